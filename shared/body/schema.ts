import Type, { type StaticDecode } from 'typebox'
import { resolvedLocaleMembers } from '../locales/locale.ts'
import { Nullable, Time, UserId, Version } from '../schema/identifiers.ts'
import { asText } from '../schema/json-text.ts'
import type { DocNode } from './document.ts'
import { tiptapNode, tiptapNodeInput } from './published-schema.ts'

const position = Type.Integer({ minimum: 0 })

/** A body as tiptap-json. The normaliser checks the nodes and names the node that is wrong. */
const TiptapDocument = Type.Unsafe<DocNode>({
  $id: 'TiptapDocument',
  type: 'object',
  description: 'A ProseMirror/Tiptap document; the node table is in the reference',
  required: ['type', 'content'],
  properties: { type: { const: 'doc' }, content: { type: 'array', minItems: 1, items: tiptapNode } },
})

// The request schema lets any object through to the normaliser, whose 422 is more precise.
const TiptapDocumentInput = asText(
  Type.Unsafe<unknown>({
    type: 'object',
    'x-published': {
      $id: 'TiptapDocumentInput',
      type: 'object',
      description: 'A document to be written; without content it has one empty paragraph',
      required: ['type'],
      properties: { type: { const: 'doc' }, content: { type: 'array', items: tiptapNodeInput } },
    },
  }),
)

/** The body of `PUT /documents/{id}/content`, and `content` of a new document. */
export const ContentInput = Type.Union(
  [
    Type.Object(
      { format: Type.Literal('markdown'), content: Type.String({ description: 'Markdown' }) },
      { $id: 'MarkdownContentInput', description: 'A body in Markdown' },
    ),
    Type.Object(
      { format: Type.Literal('tiptap-json'), document: TiptapDocumentInput },
      { $id: 'TiptapContentInput', description: 'A body as ProseMirror/Tiptap JSON' },
    ),
  ],
  { $id: 'ContentInput', 'x-discriminator': 'format', description: 'a body in either of the two writable formats' },
)
/** The content input as handlers get it, with the document as JSON text. */
export type ContentInput = StaticDecode<typeof ContentInput>

/** A loss or an oddity of a conversion. */
export const ContentWarning = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    block_id: Nullable(Type.String()),
    count: Type.Optional(Type.Integer({ minimum: 1, description: '`block_ids_replaced` only: how many blocks' })),
  },
  {
    $id: 'Warning',
    description:
      'Something that a conversion could not carry over, or that a write has replaced. An answer holds the first 100; behind them, `warnings_truncated` says how many were left out.',
  },
)

/** The answer of every read and write of a whole body. */
export const Content = Type.Object(
  {
    document_id: Type.String(),
    document_uri: Type.String(),
    format: Type.Enum(['tiptap-json', 'markdown', 'html']),
    version: Version,
    updated_at: Time,
    document: Type.Optional(TiptapDocument),
    content: Type.Optional(
      Type.String({
        description:
          'the body as Markdown or HTML; raw HTML is sanitised in HTML and, nested deeper than 512 elements, loses its tags',
      }),
    ),
    warnings: Type.Array(ContentWarning),
    ...resolvedLocaleMembers,
  },
  { $id: 'Content', description: 'A body; `version` is the ETag without quotes' },
)

/** The answer of a write to a body for a caller that needs no more than its outcome. */
export const BodyWritten = Type.Object(
  {
    document_id: Type.String(),
    version: Version,
    changed_block_ids: Type.Array(Type.String(), {
      description: 'the top-level blocks that were added, changed, moved or removed',
    }),
    warnings: Type.Optional(Type.Array(ContentWarning)),
  },
  { $id: 'BodyWritten' },
)

/** A kept snapshot; `size` is the number of bytes of the stored text. */
export const DocumentVersion = Type.Object(
  {
    seq: Type.Integer({ minimum: 1 }),
    created_at: Time,
    created_by: UserId,
    size: Type.Integer({ minimum: 0 }),
  },
  { $id: 'DocumentVersion' },
)

/** The body of a kept snapshot. */
export const VersionContent = Type.Object(
  { ...Content.properties, seq: Type.Integer({ minimum: 1 }) },
  { $id: 'VersionContent' },
)

/** The answer of a rollback. */
export const RolledBack = Type.Object(
  { ...Content.properties, restored_seq: Type.Integer({ minimum: 1 }) },
  { $id: 'RolledBackContent' },
)

/** The titles of the sections around a block, outermost first. */
export const HeadingPath = Type.Array(Type.String(), {
  description: 'titles, outermost first; each is cut at 200 code points, with `…` behind the cut',
})

/** A section of an outline. Its range of top-level blocks includes both ends. */
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

/** The views of a partial read. */
export const readViews = ['markdown', 'tiptap-json', 'plain-text', 'outline'] as const

/** A range of blocks of a body that fits a budget of tokens. */
export const DocumentRead = Type.Object(
  {
    document_id: Type.String(),
    document_uri: Type.Optional(Type.String()),
    version: Version,
    view: Type.Enum([...readViews]),
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
    warnings: Type.Optional(Type.Array(ContentWarning)),
    ...resolvedLocaleMembers,
  },
  { $id: 'DocumentRead' },
)
