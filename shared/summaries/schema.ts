import Type, { type Static } from 'typebox'
import { progressMembers } from '../jobs/requested/progress.ts'
import { IntegerId, Nullable, Time, UserId, Version } from '../schema/identifiers.ts'
import { blockIdPattern } from '../schema/ids.ts'
import { Text } from '../schema/strings.ts'

/** The most characters of a stored summary, and of a summary that was made without a model. */
export const textLimits = { stored: 20_000, deterministic: 4000 } as const

/** The most ids in `source_block_ids` and in `source_document_ids`. */
export const sourceLimit = 200

const TargetMember = Type.Object({
  type: Type.Enum(['section', 'document', 'folder', 'knowledge_base']),
  id: Type.Union([Type.String(), IntegerId], { description: 'of the document, folder or knowledge base' }),
  block_id: Nullable(Type.String({ description: 'heading of the section' })),
})

export const Coverage = Type.Object(
  {
    ratio: Type.Number({ minimum: 0, maximum: 1 }),
    covered_blocks: Type.Integer({ minimum: 0 }),
    total_blocks: Type.Integer({
      minimum: 0,
      description: 'top-level blocks of the source; of the covered documents for folders and knowledge bases',
    }),
    covered_documents: Type.Integer({ minimum: 0 }),
    total_documents: Type.Integer({ minimum: 0 }),
    truncated: Type.Boolean({ description: 'true when a limit left something out' }),
  },
  { description: 'how much of the source the text was made from' },
)
export type Coverage = Static<typeof Coverage>

/** A summary: a text that is derived from its target, and that may be older than the target. */
export const Summary = Type.Object(
  {
    target: TargetMember,
    text: Type.String({ description: 'plain text' }),
    status: Type.Enum(['fallback', 'ready', 'query'], {
      description: '`fallback`: nothing is stored, made at read; `ready`: stored; `query`: made for this query',
    }),
    generator: Type.Enum(['deterministic', 'manual', 'model']),
    freshness: Type.Enum(['current', 'stale'], { description: '`stale`: the source has changed since' }),
    pinned: Type.Boolean({ description: 'true: no machine writes over it' }),
    summary_version: Type.Integer({ minimum: 0, description: 'grows with every save; 0 when nothing is stored' }),
    source_version: Version,
    current_source_version: Version,
    source_block_ids: Type.Array(Type.String(), { maxItems: sourceLimit }),
    source_document_ids: Type.Array(Type.String(), { maxItems: sourceLimit }),
    coverage: Coverage,
    model: Nullable(Type.String()),
    query: Nullable(Type.String()),
    pending_job_id: Nullable(Type.String()),
    updated_at: Nullable(Time),
    updated_by: UserId,
  },
  { $id: 'Summary' },
)
export type Summary = Static<typeof Summary>

const baseSourceVersion = Type.Optional(
  Type.Unsafe<string>({ ...Version, description: 'the `current_source_version` the caller has seen' }),
)

/** Body of `PUT …/summary`. Without `base_source_version` the answer is 428. */
export const SummaryInput = Type.Object(
  {
    text: Text({ min: 1, max: textLimits.stored }),
    base_source_version: baseSourceVersion,
    pinned: Type.Optional(Type.Boolean({ description: 'absent = as it is' })),
    source_block_ids: Type.Optional(Type.Array(Type.String({ pattern: blockIdPattern }), { maxItems: sourceLimit })),
  },
  { $id: 'SummaryInput' },
)
export type SummaryInput = Static<typeof SummaryInput>

/** Body of `POST …/summary/rebuild`. */
export const SummaryRebuildInput = Type.Object(
  {
    generator: Type.Optional(Type.Enum(['deterministic', 'model'], { default: 'deterministic' })),
    base_source_version: baseSourceVersion,
  },
  { $id: 'SummaryRebuildInput' },
)
export type SummaryRebuildInput = Static<typeof SummaryRebuildInput>

/** A job that has a model make a summary. */
export const SummaryJob = Type.Object(
  {
    id: Type.String(),
    status: Type.Enum(['pending', 'running', 'succeeded', 'failed', 'obsolete']),
    target: TargetMember,
    generator: Type.Literal('model'),
    source_version: Version,
    base_summary_version: Type.Integer({ minimum: 0 }),
    result_summary_version: Nullable(Type.Integer({ minimum: 1 })),
    model: Type.String(),
    usage: Nullable(Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() })),
    error: Nullable(
      Type.Object({
        code: Type.Enum(['model_error', 'model_timeout', 'model_bad_output', 'access_revoked', 'document_too_large']),
        message: Type.String(),
      }),
    ),
    obsolete_reason: Nullable(Type.Enum(['source_changed', 'pinned', 'summary_changed', 'target_deleted'])),
    created_at: Time,
    started_at: Nullable(Time),
    finished_at: Nullable(Time),
    ...progressMembers,
  },
  { $id: 'SummaryJob' },
)
export type SummaryJob = Static<typeof SummaryJob>
