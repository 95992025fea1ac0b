import Type from 'typebox'
import type { BlockNode, BodyNode, Mark } from '../body/document.ts'
import { tiptapMark, tiptapNode } from '../body/published-schema.ts'
import { Nullable, Version } from '../schema/identifiers.ts'

const position = Type.Integer({ minimum: 0, description: 'index among the top-level blocks' })
const BlockId = Type.String({ description: 'block id' })
const Node = Type.Unsafe<BlockNode>(tiptapNode)

/** A stretch of inline content that both sides have, or only one of them. */
export const InlineHunk = Type.Object(
  {
    op: Type.Enum(['equal', 'insert', 'delete']),
    text: Type.String({ description: 'the text, or the plain text of `node`' }),
    marks: Type.Optional(Type.Array(Type.Unsafe<Mark>(tiptapMark), { description: 'absent: none' })),
    node: Type.Optional(
      Type.Unsafe<BodyNode>({
        allOf: [tiptapNode],
        description: 'the whole node with its marks, of any inline node other than a text',
      }),
    ),
  },
  {
    $id: 'InlineHunk',
    description:
      '`equal` and `delete` hunks in their order are the content before, `equal` and `insert` the content after',
  },
)

const hunks = Type.Array(InlineHunk)

/** A textblock inside of a modified block. */
export const TextblockDifference = Type.Object({ block_id: BlockId, hunks }, { $id: 'TextblockDifference' })

/** A top-level block that differs. */
export const BlockDifference = Type.Object(
  {
    op: Type.Enum(['added', 'removed', 'modified', 'moved'], {
      description: 'a block that was moved and edited is `modified`',
    }),
    block_id: BlockId,
    old_position: Nullable(position),
    new_position: Nullable(position),
    before: Nullable(Node),
    after: Nullable(Node),
    hunks: Type.Optional(
      Type.Array(InlineHunk, {
        description: 'of a modified block that holds text itself, such as a paragraph; absent for too much text',
      }),
    ),
    children: Type.Optional(
      Type.Array(TextblockDifference, {
        description:
          'of a modified block that holds other blocks: the blocks in it whose text differs; absent for too much text',
      }),
    ),
  },
  { $id: 'BlockDifference' },
)

const Side = Type.Object({
  seq: Type.Union([Type.Integer({ minimum: 1 }), Type.Literal('current')]),
  version: Version,
})

/** A difference of two bodies of one document, by blocks or as unified text. */
export const DocumentDifference = Type.Object(
  {
    document_id: Type.String(),
    from: Side,
    to: Side,
    format: Type.Optional(Type.Literal('markdown')),
    blocks: Type.Optional(
      Type.Array(BlockDifference, { description: 'first the removed ones by `old_position`, then by `new_position`' }),
    ),
    content: Type.Optional(
      Type.String({ description: 'unified text of the two bodies as Markdown; empty when they are equal' }),
    ),
  },
  { $id: 'DocumentDifference', description: '`blocks`, or with `format=markdown` the members `format` and `content`' },
)
