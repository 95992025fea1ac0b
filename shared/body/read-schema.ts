import Type from 'typebox'
import { resolvedLocaleMembers } from '../locales/locale.ts'
import { Nullable, Version } from '../schema/identifiers.ts'
import { TiptapDocument, Warning } from './schema.ts'

const position = Type.Integer({ minimum: 0 })

/** The titles of the sections that a place is in, outermost first. */
export const HeadingPath = Type.Array(Type.String(), {
  description: 'titles, outermost first; each is cut at 200 code points, with `…` behind the cut',
})

/** A section of an outline; ranges are closed intervals of top-level blocks (specification 2.6). */
const OutlineSection = Type.Object(
  {
    block_id: Nullable(Type.String()),
    level: Type.Integer({ minimum: 1, maximum: 6 }),
    title: Type.String(),
    heading_path: HeadingPath,
    parent_block_id: Nullable(Type.String()),
    start_position: position,
    end_position: position,
    start_block_id: Type.String(),
    end_block_id: Type.String(),
    block_count: Type.Integer({ minimum: 1 }),
  },
  { $id: 'OutlineSection' },
)

const BlockRange = Type.Object(
  {
    start_position: position,
    end_position: position,
    start_block_id: Type.String(),
    end_block_id: Type.String(),
    block_count: Type.Integer({ minimum: 1 }),
  },
  { $id: 'BlockRange' },
)

export const DocumentOutline = Type.Object(
  {
    document_id: Type.String(),
    version: Version,
    block_count: Type.Integer({ minimum: 0 }),
    heading_count: Type.Integer({ minimum: 0 }),
    preamble: Nullable(BlockRange),
    sections: Type.Array(OutlineSection),
    ...resolvedLocaleMembers,
  },
  { $id: 'DocumentOutline' },
)

/** A part of a body within a budget of tokens (specification 2.6). */
export const DocumentRead = Type.Object(
  {
    document_id: Type.String(),
    document_uri: Type.Optional(Type.String()),
    version: Version,
    view: Type.Enum(['markdown', 'tiptap-json', 'plain-text', 'outline']),
    range: Type.Optional(
      Type.Object({
        from_position: position,
        to_position: position,
        start_block_id: Type.String(),
        end_block_id: Type.String(),
        block_count: Type.Integer({ minimum: 1 }),
      }),
    ),
    estimated_tokens: Type.Optional(Type.Integer({ minimum: 0 })),
    max_tokens: Type.Optional(Type.Integer({ minimum: 64 })),
    budget_exceeded: Type.Optional(Type.Boolean()),
    truncated: Type.Optional(Type.Boolean()),
    omitted_ranges: Type.Optional(Type.Array(Type.Object({ from_position: position, to_position: position }))),
    has_more: Type.Optional(Type.Boolean()),
    next_cursor: Type.Optional(Nullable(Type.String())),
    content: Type.Optional(Type.String()),
    document: Type.Optional(TiptapDocument),
    sections: Type.Optional(Type.Array(OutlineSection)),
    warnings: Type.Optional(Type.Array(Warning)),
    ...resolvedLocaleMembers,
  },
  { $id: 'DocumentRead' },
)
