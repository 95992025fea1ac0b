import Type, { type Static } from 'typebox'
import { Nullable, Time, UserId, Version } from '../../schema/identifiers.ts'
import { blockIdPattern } from '../../schema/ids.ts'
import { Text } from '../../schema/strings.ts'
import { TranslationFreshness, unitStatuses } from '../schema.ts'

const count = Type.Integer({ minimum: 0 })

/** The status of a unit; `api/guide/translation.md#statuses` explains it. */
export const UnitStatusName = Type.Enum([...unitStatuses])

// A block of a translation to which a unit is mapped.
const TargetBlock = Type.Object({
  block_id: Type.String(),
  type: Type.String(),
  text: Type.String({ description: 'plain text' }),
})

/**
 * A translation unit as the API returns it: a paragraph or heading of the source document, and its text in one
 * translation.
 */
export const TranslationUnit = Type.Object(
  {
    id: Type.String({ description: 'stays as long as the source block has text' }),
    document_set_id: Type.String(),
    source_document_id: Type.String(),
    target_document_id: Type.String(),
    source_locale: Type.String(),
    target_locale: Type.String(),
    source_block_id: Type.String(),
    block_type: Type.Enum(['paragraph', 'heading']),
    position: Type.Integer({ minimum: 0, description: 'index among the units, in the order of the source' }),
    source_text: Type.String({ description: 'inline Markdown' }),
    source_hash: Version,
    source_version: Version,
    target_version: Version,
    target_blocks: Type.Array(TargetBlock),
    target_block_ids: Type.Array(Type.String()),
    target_text: Nullable(Type.String({ description: 'inline Markdown; one line for each block' })),
    status: UnitStatusName,
    freshness: TranslationFreshness,
    origin: Nullable(Type.Enum(['machine', 'manual'], { description: 'who made the text of the target' })),
    reviewed_at: Nullable(Time),
    reviewed_by: UserId,
    created_at: Time,
    updated_at: Time,
  },
  { $id: 'TranslationUnit' },
)
export type TranslationUnit = Static<typeof TranslationUnit>

/** Body of `PATCH /documents/{id}/translation-units/{unitId}`. */
export const ReviewInput = Type.Object(
  {
    target_document_id: Text(),
    review_status: Type.Enum(['current', 'ignored'], {
      description: '`current` confirms the texts of both sides as they are; `ignored` takes the unit out of the work',
    }),
    target_block_ids: Type.Optional(
      Type.Array(Type.String({ pattern: blockIdPattern }), {
        maxItems: 100,
        description: 'paragraphs and headings of the target that say the unit, in order; replaces the ones before',
      }),
    ),
  },
  { $id: 'TranslationUnitReviewInput' },
)
export type ReviewInput = Static<typeof ReviewInput>

/** Body of `POST /documents/{id}/translations/{targetDocId}/prepare`. */
export const PrepareInput = Type.Object(
  {
    align: Type.Optional(
      Type.Enum(['by_position', 'none'], {
        default: 'by_position',
        description: '`by_position` maps units without a block to blocks without a unit, type by type, in order',
      }),
    ),
  },
  { $id: 'TranslationPrepareInput' },
)

/** The result of preparing a translation. */
export const Prepared = Type.Object(
  {
    document_set_id: Type.String(),
    target_document_id: Type.String(),
    source_version: Version,
    target_version: Version,
    unit_count: count,
    mapped: Type.Integer({ minimum: 0, description: 'units that this call mapped' }),
    status_counts: Type.Object(Object.fromEntries(unitStatuses.map((status) => [status, count]))),
  },
  { $id: 'TranslationPrepared' },
)
export type Prepared = Static<typeof Prepared>
