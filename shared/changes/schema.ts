import Type, { type Static } from 'typebox'
import { Nullable, Time, Version } from '../schema/identifiers.ts'

const Position = Type.Integer({ minimum: 0, description: 'index among the top-level blocks' })

// A top-level block as a baseline lists it.
const BlockManifestEntry = Type.Object(
  {
    block_id: Type.String(),
    position: Position,
    type: Type.String(),
    hash: Version,
    text_excerpt: Type.String({ description: 'the first 120 characters, white space collapsed' }),
  },
  { $id: 'BlockManifestEntry' },
)

const recordedMembers = {
  op: Type.Enum(['added', 'removed', 'modified', 'moved']),
  block_id: Type.String(),
  type: Type.String(),
  text_excerpt: Type.String(),
  hash: Nullable(Version),
  old_position: Nullable(Position),
  new_position: Nullable(Position),
  moved: Type.Optional(Type.Boolean({ description: 'of a modified block: whether its relative order changed too' })),
}

/** A change of one block as a row of `change_batches` stores it. */
export const RecordedChange = Type.Object(recordedMembers)
export type RecordedChange = Static<typeof RecordedChange>

// A change of one block as a client gets it. The changes of one write have equal `cursor`, `source_version` and
// `changed_at`.
const BlockChange = Type.Object(
  { ...recordedMembers, cursor: Type.String(), source_version: Version, changed_at: Time },
  { $id: 'BlockChange' },
)

export const DocumentChanges = Type.Object(
  {
    document_id: Type.String(),
    cursor: Nullable(Type.String({ description: 'the next `after`; null: keep the one you have, or take a baseline' })),
    source_version: Nullable(Type.String({ description: 'version of the body that the cursor stands for' })),
    freshness: Type.Enum(['current', 'stale', 'missing']),
    complete: Type.Boolean(),
    sync_required: Type.Boolean(),
    baseline: Type.Boolean(),
    manifest: Type.Optional(Type.Array(BlockManifestEntry, { description: 'of a baseline alone' })),
    changes: Type.Array(BlockChange),
    has_more: Type.Boolean(),
    next_cursor: Nullable(Type.String()),
  },
  { $id: 'DocumentChanges' },
)
export type DocumentChanges = Static<typeof DocumentChanges>
