import { type Static, Type } from 'typebox'
import type { BodyWritten } from '../../../shared/body/schema.ts'
import type { DocumentDifference } from '../../../shared/differences/schema.ts'
import { Document, documentCreateMembers } from '../../../shared/documents/schema.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { differenceMembers, toldWarnings, writeAnswer } from '../difference.ts'
import { type Door, ifMatch } from '../door.ts'
import { type ToolUse, tool } from '../tool.ts'

const { knowledge_base_id, folder_id, tags } = documentCreateMembers
const { version } = Document.properties

const Input = Type.Object({
  content: Type.String({ description: 'the whole body, in Markdown' }),
  title: Type.Optional(Type.String({ description: 'of a new document' })),
  knowledge_base_id,
  folder_id,
  tags: Type.With(tags, { description: 'of a new document' }),
  document_id: Type.Optional(Type.String({ description: 'the document whose body is replaced' })),
  base_version: Type.Optional(Type.String({ description: 'version you have read; needed with document_id' })),
  ids: Type.Optional(
    Type.Enum(['match', 'strict'], {
      description: 'match (default): blocks keep the ids of the blocks they continue; strict: only anchored blocks do',
    }),
  ),
  dry_run: Type.Optional(Type.Boolean({ description: 'with document_id: only show the difference' })),
})
type Input = Static<typeof Input>

const Output = Type.Object({
  document_id: Type.String(),
  version,
  freshness: Type.Literal('current'),
  created: Type.Boolean(),
  dry_run: Type.Boolean(),
  ...differenceMembers,
  warnings: Type.Optional(Type.Array(Type.String())),
})

/** Makes a document, or replaces the whole body of one. */
export const write = tool({
  name: 'write',
  title: 'Write',
  description:
    'Create a document (title, content and knowledge_base_id or folder_id), or replace the whole body of document_id. To change a part, use edit.',
  input: Input,
  output: Output,
  readOnly: false,
  destructive: true,
  async run(args, use) {
    return args.document_id === undefined ? create(use.door, args) : replace(use, args, args.document_id)
  },
})

type Created = Static<typeof Document> & { warnings: { message: string }[] }

async function create(door: Door, args: Input) {
  const { title, content, knowledge_base_id, folder_id, tags, dry_run } = args
  const misplacedMember = (['base_version', 'ids'] as const).find((name) => args[name] !== undefined)
  if (misplacedMember !== undefined) throw misplaced(misplacedMember, 'needs document_id')
  const { data } = await door<Created>({
    operationId: 'createDocument',
    query: { dry_run },
    body: { title, knowledge_base_id, folder_id, tags, content: { format: 'markdown', content } },
  })
  const told = toldWarnings(data.warnings)
  return {
    structured: {
      document_id: data.id,
      version: data.version,
      freshness: 'current' as const,
      created: true,
      dry_run: false,
      changed_blocks: [],
      omitted: 0,
      ...told.structured,
    },
    summary: `Created ${data.id}, version ${data.version}.`,
    ...(told.lines.length > 0 && { untrusted: told.lines.join('\n') }),
  }
}

type Replaced = Static<typeof BodyWritten> & { diff?: Pick<Static<typeof DocumentDifference>, 'blocks'> }

async function replace(use: ToolUse, args: Input, documentId: string) {
  const { content, base_version, ids = 'match', dry_run = false } = args
  const misplacedMember = (['title', 'knowledge_base_id', 'folder_id', 'tags'] as const).find(
    (name) => args[name] !== undefined,
  )
  if (misplacedMember !== undefined) throw misplaced(misplacedMember, 'only for a new document; see organise')
  const { data } = await use.door<Replaced>({
    operationId: 'replaceContent',
    params: { id: documentId },
    query: { ids, dry_run: dry_run || undefined },
    headers: { ...ifMatch(base_version), prefer: 'return=minimal' },
    body: { format: 'markdown', content },
  })
  // A write that changes nothing has no step of its own in the history.
  const diff = data.changed_block_ids.length === 0 ? { blocks: [] } : data.diff
  const answer = await writeAnswer(use, { ...data, ...(diff && { diff }), documentId, dryRun: dry_run })
  return { ...answer, structured: { ...answer.structured, created: false } }
}

function misplaced(name: string, message: string): Refusal {
  return new Refusal('invalid_request', { details: { fields: [{ path: `/${name}`, message }] } })
}
