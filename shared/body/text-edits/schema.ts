import Type, { type Static } from 'typebox'
import { Version } from '../../schema/identifiers.ts'
import { Text } from '../../schema/strings.ts'
import { ContentWarning } from '../schema.ts'

/** The most block ids that the result of one edit names. */
export const namedBlocks = 1000

const withinLine = '^[^\\n]*$'

const guard = {
  if_match: Type.Optional(Type.String({ description: 'hash that the block must have before the first edit' })),
}

const ReplaceEdit = Type.Object(
  {
    op: Type.Literal('replace'),
    find: Text({
      min: 1,
      max: 2000,
      pattern: withinLine,
      description: 'text of one paragraph, heading, cell or the like, as a plain-text read shows it; no line feed',
    }),
    replace: Text({
      max: 2000,
      pattern: withinLine,
      description: 'the new text, without markup; it has the marks of the first character that it replaces',
    }),
    occurrence: Type.Optional(
      Type.Enum(['only', 'first', 'all'], {
        default: 'only',
        description: '`only` refuses a text that occurs several times',
      }),
    ),
    block_id: Type.Optional(Type.String({ description: 'search this block and everything in it, not the document' })),
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
    Type.String({ description: 'block id or slug of a top-level heading; without it the whole document' }),
  ),
}

const AppendEdit = Type.Object(
  { op: Type.Literal('append'), ...added },
  { $id: 'AppendEdit', description: 'Adds blocks at the end of the document or of a section' },
)

const PrependEdit = Type.Object(
  { op: Type.Literal('prepend'), ...added },
  { $id: 'PrependEdit', description: 'Adds blocks at the beginning of the document or of a section' },
)

const InsertEdit = Type.Refine(
  Type.Object(
    {
      op: Type.Literal('insert'),
      markdown,
      before_block_id: Type.Optional(BlockReference),
      after_block_id: Type.Optional(BlockReference),
    },
    { $id: 'InsertEdit', description: 'Adds blocks beside a block, in the same parent' },
  ),
  (edit) => (edit.before_block_id === undefined) !== (edit.after_block_id === undefined),
  () => 'must have exactly one of the members before_block_id, after_block_id',
)

const ReplaceBlockEdit = Type.Object(
  { op: Type.Literal('replace_block'), block_id: BlockReference, markdown, ...guard },
  { $id: 'ReplaceBlockEdit', description: 'Replaces a block by Markdown; the first new block keeps its id' },
)

const DeleteBlockEdit = Type.Object(
  { op: Type.Literal('delete_block'), block_id: BlockReference, ...guard },
  { $id: 'DeleteBlockEdit', description: 'Deletes a block with what is in it' },
)

/** One step of a request that edits by text. */
const TextEdit = Type.Union([ReplaceEdit, AppendEdit, PrependEdit, InsertEdit, ReplaceBlockEdit, DeleteBlockEdit], {
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
      description: `of \`replace\` the changed textblocks, of \`delete_block\` the deleted block, otherwise the new blocks; at most ${namedBlocks}`,
    }),
    count: Type.Integer({ minimum: 0, description: 'replaced texts, added blocks or deleted blocks' }),
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
export type TextEdit = ReplaceEdit | AddEdit | ReplaceBlockEdit | Static<typeof DeleteBlockEdit>
export type AppliedEdit = Static<typeof AppliedEdit>
