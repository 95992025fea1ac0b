import { type Static, Type } from 'typebox'
import { TextEditInput, TextEditResult } from '../../../shared/body/text-edits/schema.ts'
import type { DocumentDifference } from '../../../shared/differences/schema.ts'
import { differenceMembers, writeAnswer } from '../difference.ts'
import { tool } from '../tool.ts'

const { edits, base_version } = TextEditInput.properties
const { document_id, version } = TextEditResult.properties

type Result = Static<typeof TextEditResult> & { diff?: Static<typeof DocumentDifference> }

/** Changes sentences and blocks of a document, and shows the difference. */
export const edit = tool({
  name: 'edit',
  title: 'Edit',
  description:
    'Change a document: all edits or none, in order. To fix words: op replace with block_id, and find copied from a hit or plain text. if_match, the hash of the block, refuses when the block has changed. Answers the difference with new hashes.',
  input: Type.Object({
    document_id: Type.String(),
    edits,
    base_version,
    dry_run: Type.Optional(Type.Boolean({ description: 'only show the difference' })),
  }),
  output: Type.Object({
    document_id,
    version,
    freshness: Type.Literal('current'),
    dry_run: Type.Boolean(),
    ...differenceMembers,
    warnings: Type.Optional(Type.Array(Type.String())),
  }),
  readOnly: false,
  destructive: true,
  async run({ document_id: id, edits, base_version, dry_run = false }, use) {
    const { data } = await use.door<Result>({
      operationId: 'editContent',
      params: { id },
      query: { dry_run: dry_run || undefined },
      body: { edits, base_version },
    })
    return writeAnswer(use, { ...data, documentId: id, dryRun: dry_run })
  },
})
