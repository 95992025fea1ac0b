import Type from 'typebox'
import { BlockHash, Nullable, Version } from '../schema/identifiers.ts'
import { blockIdPattern } from '../schema/ids.ts'
import { asText } from '../schema/json-text.ts'
import type { BlockNode } from './document.ts'
import { tiptapNode, tiptapNodeInput } from './published-schema.ts'
import { ContentWarning, HeadingPath } from './schema.ts'

/** A node as an answer in tiptap-json returns it. */
const TiptapNode = Type.Unsafe<BlockNode>(tiptapNode)

// The request schema only requires an object. The normaliser checks the node and names the node that is wrong.
const NodeInput = Type.Unsafe<unknown>({ type: 'object', 'x-published': tiptapNodeInput })
const BlockId = Type.String({ pattern: blockIdPattern })
const BlockReference = Type.String({ description: 'block id' })

/** A block as answers show it. `hash` is the precondition for this block alone, `version` for the whole body. */
export const Block = Type.Object(
  {
    block_id: BlockId,
    document_id: Type.String(),
    uri: Type.String(),
    type: Type.String(),
    attrs: Type.Unsafe<object>({ type: 'object', additionalProperties: true, description: '`attrs` of the node' }),
    text: Type.String(),
    node: TiptapNode,
    position: Type.Integer({ minimum: 0, description: 'index of the top-level ancestor' }),
    depth: Type.Integer({ minimum: 0 }),
    parent_block_id: Nullable(BlockId),
    heading_path: HeadingPath,
    hash: BlockHash,
    version: Version,
  },
  { $id: 'Block' },
)

const positions = {
  document_start: Type.Optional(Type.Unsafe<unknown>({ description: 'any value, such as true' })),
  document_end: Type.Optional(Type.Unsafe<unknown>({ description: 'any value, such as true' })),
  before_block_id: Type.Optional(BlockReference),
  after_block_id: Type.Optional(BlockReference),
  parent_block_id: Type.Optional(Type.String({ description: 'block id; the nodes become its last children' })),
  after_heading: Type.Optional(Type.String({ description: 'text of a top-level heading' })),
}

/** The position of new blocks: an object with exactly one of the known members. */
const BlockPosition = Type.Refine(
  Type.Object(positions, { $id: 'BlockPosition', description: 'exactly one of the members' }),
  (value) => Object.keys(positions).filter((key) => Object.hasOwn(value, key)).length === 1,
  () => `must have exactly one of the members ${Object.keys(positions).join(', ')}`,
)

const nodes = Type.Array(NodeInput, { minItems: 1, maxItems: 1000 })

export const BlockInsertInput = asText(Type.Object({ position: BlockPosition, nodes }, { $id: 'BlockInsertInput' }))

/**
 * A request body that changes one block. `node` replaces the block. Without `node`, `attrs` are merged, where null
 * resets an attribute, and `content` replaces the children.
 */
export const BlockPatchInput = asText(
  Type.Refine(
    Type.Object(
      {
        node: Type.Optional(NodeInput),
        attrs: Type.Optional(
          Type.Unsafe<object>({
            type: 'object',
            additionalProperties: true,
            description:
              'attributes of the type of the block, merged with those it has; null resets one to its default',
          }),
        ),
        content: Type.Optional(Type.Array(NodeInput)),
      },
      { $id: 'BlockPatchInput' },
    ),
    ({ node, attrs, content }) => (node === undefined) !== (attrs === undefined && content === undefined),
    () => 'must have either node, or attrs or content or both',
  ),
)

const ifMatch = Type.Optional(Type.String({ description: 'hash the block must have before the batch' }))

const BatchOperation = Type.Union(
  [
    Type.Object(
      { op: Type.Literal('insert'), position: BlockPosition, nodes },
      { $id: 'InsertOperation', description: 'Inserts blocks' },
    ),
    Type.Object(
      { op: Type.Literal('replace'), block_id: BlockReference, node: NodeInput, if_match: ifMatch },
      { $id: 'ReplaceOperation', description: 'Replaces a block, which keeps its id' },
    ),
    Type.Object(
      { op: Type.Literal('delete'), block_id: BlockReference, if_match: ifMatch },
      { $id: 'DeleteOperation', description: 'Deletes a block' },
    ),
  ],
  { $id: 'BatchOperation', 'x-discriminator': 'op', description: 'one step of a batch' },
)

export const BatchInput = Type.Object(
  {
    base_version: Type.Optional(Type.String({ description: 'version of the body, quoted or bare' })),
    operations: asText(Type.Array(BatchOperation, { minItems: 1, maxItems: 100 })),
  },
  { $id: 'BatchInput' },
)

export const BlocksInserted = Type.Object(
  {
    document_id: Type.String(),
    version: Version,
    block_ids: Type.Array(BlockId),
    blocks: Type.Array(Block),
  },
  { $id: 'BlocksInserted' },
)

export const BlockDeleted = Type.Object(
  { document_id: Type.String(), version: Version, deleted_block_id: BlockId },
  { $id: 'BlockDeleted' },
)

export const BatchResult = Type.Object(
  {
    document_id: Type.String(),
    version: Version,
    applied: Type.Integer({ minimum: 1 }),
    results: Type.Array(
      Type.Object({
        index: Type.Integer({ minimum: 0 }),
        op: Type.Enum(['insert', 'replace', 'delete']),
        block_ids: Type.Array(BlockId),
      }),
    ),
    warnings: Type.Array(ContentWarning),
  },
  { $id: 'BatchResult' },
)
