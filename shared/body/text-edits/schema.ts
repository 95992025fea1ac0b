import Type, { type Static } from 'typebox'
import { Version } from '../../schema/identifiers.ts'
import { Text } from '../../schema/strings.ts'
import { ContentWarning } from '../schema.ts'

/** The most block ids that the result of one edit names. */
export const namedBlocks = 1000

const withinLine = '^[^\\n]*$'

const guard = {
  if_match: Type.Optional(Type.String({ description: 'hash the block must have before all edits' })),
}

const ReplaceEdit = Type.Object(
  {
    op: Type.Literal('replace'),
    find: Text({
      min: 1,
      max: 2000,
      pattern: withinLine,
      description: 'plain text within one block, without line feed',
    }),
    replace: Text({
      max: 2000,
      pattern: withinLine,
      description: 'new text without markup, with the marks of the first character it replaces',
    }),
    occurrence: Type.Optional(
      Type.Enum(['only', 'first', 'all'], {
        default: 'only',
        description: '`only` refuses a text that occurs several times',
      }),
    ),
    block_id: Type.Optional(Type.String({ description: 'search only within this block' })),
    match_case: Type.Optional(Type.Boolean({ default: true })),
    ...guard,
  },
  { $id: 'ReplaceEdit', description: 'Replaces a text within one textblock' },
)

const markdown = Text({ min: 1, description: 'one or more blocks' })
const BlockReference = Type.String({ description: 'block id' })

const added = {
  markdown,
  section: Type.Optional(
    Type.String({ description: 'block id or slug of a top-level heading; default: the document' }),
  ),
}

const AppendEdit = Type.Object(
  { op: Type.Literal('append'), ...added },
  { $id: 'AppendEdit', description: 'Adds at the end of the document or section' },
)

const PrependEdit = Type.Object(
  { op: Type.Literal('prepend'), ...added },
  { $id: 'PrependEdit', description: 'Adds at the beginning of the document or section' },
)

/** The members of an insert that name its place. */
export const insertPlaces = ['before_block_id', 'after_block_id', 'parent_block_id'] as const

const InsertEdit = Type.Refine(
  Type.Object(
    {
      op: Type.Literal('insert'),
      markdown,
      before_block_id: Type.Optional(BlockReference),
      after_block_id: Type.Optional(BlockReference),
      parent_block_id: Type.Optional(BlockReference),
    },
    {
      $id: 'InsertEdit',
      description: 'Adds beside a block or as its last children: to a list `- item`, to a table `| row |`',
    },
  ),
  (edit) => insertPlaces.filter((name) => edit[name] !== undefined).length === 1,
  () => `must have exactly one of the members ${insertPlaces.join(', ')}`,
)

const ReplaceBlockEdit = Type.Object(
  { op: Type.Literal('replace_block'), block_id: BlockReference, markdown, ...guard },
  { $id: 'ReplaceBlockEdit', description: 'Replaces a block; the first new block keeps its id' },
)

const DeleteBlockEdit = Type.Object(
  { op: Type.Literal('delete_block'), block_id: BlockReference, ...guard },
  { $id: 'DeleteBlockEdit', description: 'Deletes a block with what is in it' },
)

const CheckEdit = Type.Object(
  {
    op: Type.Literal('check'),
    block_id: BlockReference,
    checked: Type.Optional(Type.Boolean({ default: true })),
    ...guard,
  },
  { $id: 'CheckEdit', description: 'Ticks a task' },
)

/** One step of a request that edits by text. */
const edits = [ReplaceEdit, AppendEdit, PrependEdit, InsertEdit, ReplaceBlockEdit, DeleteBlockEdit, CheckEdit]
const TextEdit = Type.Union(edits, {
  $id: 'TextEdit',
  'x-discriminator': 'op',
  description: 'one step of an edit by text',
})

/** The body of `POST /documents/{id}/content/edit`. */
export const TextEditInput = Type.Object(
  {
    edits: Type.Array(TextEdit, { minItems: 1, maxItems: 100 }),
    base_version: Type.Optional(Type.String({ description: 'version of the body, quoted or bare' })),
  },
  { $id: 'TextEditInput' },
)

/** What one edit has done. */
const AppliedEdit = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: 'of the edit in the request' }),
    block_ids: Type.Array(Type.String(), {
      description: `of \`replace\` the changed textblocks, of \`delete_block\` the deleted block, of \`check\` the task, otherwise the new blocks; at most ${namedBlocks}`,
    }),
    count: Type.Integer({ minimum: 0, description: 'replaced texts, or added, deleted or ticked blocks' }),
  },
  { $id: 'AppliedEdit' },
)

/** The answer of an edit by text. */
export const TextEditResult = Type.Object(
  {
    document_id: Type.String(),
    version: Version,
    applied: Type.Array(AppliedEdit),
    warnings: Type.Array(ContentWarning),
  },
  { $id: 'TextEditResult' },
)

export type ReplaceEdit = Static<typeof ReplaceEdit>
export type AddEdit = Static<typeof AppendEdit> | Static<typeof PrependEdit> | Static<typeof InsertEdit>
export type ReplaceBlockEdit = Static<typeof ReplaceBlockEdit>
export type CheckEdit = Static<typeof CheckEdit>
export type TextEdit = ReplaceEdit | AddEdit | ReplaceBlockEdit | Static<typeof DeleteBlockEdit> | CheckEdit
export type AppliedEdit = Static<typeof AppliedEdit>
