import Type, { type Static } from 'typebox'
import { progressMembers } from '../../jobs/requested/progress.ts'
import { Nullable, Time, Version } from '../../schema/identifiers.ts'
import { Text } from '../../schema/strings.ts'

/** The most units that one job translates. */
export const maximumUnits = 100

const count = Type.Integer({ minimum: 0 })

// The outcome of one unit of a job.
const UnitResult = Type.Object({
  unit_id: Type.String(),
  status: Type.Enum(['translated', 'skipped', 'failed']),
  source_hash: Version,
  target_text: Nullable(Type.String({ description: 'inline Markdown, as the model wrote it' })),
  reason: Nullable(
    Type.String({ description: 'the status that kept a unit from being translated, or what went wrong' }),
  ),
  applied_at: Nullable(Time),
})
export type UnitResult = Static<typeof UnitResult>

/** A translation job as the API returns it. */
export const TranslationJob = Type.Object(
  {
    id: Type.String(),
    status: Type.Enum(['pending', 'succeeded', 'failed', 'obsolete']),
    document_set_id: Type.String(),
    source_document_id: Type.String(),
    target_document_id: Type.String(),
    source_locale: Type.String(),
    target_locale: Type.String(),
    source_version: Version,
    target_version: Version,
    unit_ids: Type.Array(Type.String()),
    unit_count: count,
    remaining_unit_count: Type.Integer({ minimum: 0, description: 'eligible units that did not fit into the job' }),
    result: Nullable(Type.Object({ units: Type.Array(UnitResult), translated: count, skipped: count, failed: count })),
    usage: Type.Object({
      input_characters: count,
      output_characters: count,
      estimated_cost: Nullable(Type.Number({ description: 'US dollars; null without configured prices' })),
    }),
    model: Nullable(Type.String()),
    error: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
    obsolete_reason: Nullable(Type.Enum(['source_changed', 'document_deleted'])),
    created_at: Time,
    started_at: Nullable(Time),
    finished_at: Nullable(Time),
    applied_at: Nullable(Time),
    ...progressMembers,
  },
  { $id: 'TranslationJob' },
)
export type TranslationJob = Static<typeof TranslationJob>

const unitIds = Type.Array(Text({ max: 64 }), { maxItems: maximumUnits })

/** Body of `POST /documents/{id}/translation-jobs`. */
export const JobInput = Type.Object(
  {
    target_locale: Type.Optional(Text({ description: 'BCP 47; required unless the document is a translation' })),
    unit_ids: Type.Optional(unitIds),
  },
  { $id: 'TranslationJobInput' },
)
export type JobInput = Static<typeof JobInput>

/** Body of `POST /translation-jobs/{id}/apply`. */
export const ApplyInput = Type.Object(
  {
    unit_ids: Type.Optional(unitIds),
    base_target_version: Type.Optional(Type.String({ description: 'ETag of the target, instead of If-Match' })),
  },
  { $id: 'TranslationApplyInput' },
)

// The reason why a unit is skipped when its job is applied.
const SkipReason = Type.Enum(['already_applied', 'manually_edited', 'current', 'conflict', 'ignored', 'not_translated'])
export type SkipReason = Static<typeof SkipReason>

/** The result of applying a job. */
export const Applied = Type.Object(
  {
    job_id: Type.String(),
    document_id: Type.String(),
    version: Version,
    applied: Type.Array(Type.Object({ unit_id: Type.String(), target_block_ids: Type.Array(Type.String()) })),
    skipped: Type.Array(Type.Object({ unit_id: Type.String(), reason: SkipReason })),
  },
  { $id: 'TranslationApplied' },
)
export type Applied = Static<typeof Applied>
