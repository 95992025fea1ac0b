import { type Static, Type } from 'typebox'
import { type BodyWritten, DocumentVersion } from '../../../shared/body/schema.ts'
import type { DocumentDifference } from '../../../shared/differences/schema.ts'
import { Document } from '../../../shared/documents/schema.ts'
import { Nullable } from '../../../shared/schema/identifiers.ts'
import { needed } from '../arguments.ts'
import { differenceAnswer, differenceMembers, writtenDifference } from '../difference.ts'
import { type Door, ifMatch } from '../door.ts'
import { type ToolUse, tool } from '../tool.ts'

const { seq, created_at, created_by } = DocumentVersion.properties
const Kept = Type.Object({ seq, created_at, created_by })

const Input = Type.Object({
  document_id: Type.String(),
  action: Type.Optional(
    Type.Enum(['list', 'difference', 'rollback'], {
      default: 'list',
      description: 'difference: from seq (newest) to to_seq (the current body); rollback: to seq',
    }),
  ),
  seq: Type.Optional(Type.Integer({ minimum: 1 })),
  to_seq: Type.Optional(Type.Integer({ minimum: 1 })),
  base_version: Type.Optional(Type.String({ description: 'current version; needed for rollback' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'rollback: only show the difference' })),
  cursor: Type.Optional(Type.String()),
})
type Input = Static<typeof Input>

const Output = Type.Object({
  document_id: Type.String(),
  version: Document.properties.version,
  freshness: Type.Enum(['current', 'kept']),
  versions: Type.Optional(Type.Array(Kept)),
  next_cursor: Type.Optional(Nullable(Type.String())),
  ...differenceMembers,
  dry_run: Type.Optional(Type.Boolean()),
})

// The most tokens of an answer.
const budget = 4000

/** Shows the kept versions of a document and their differences, and brings a version back. */
export const history = tool({
  name: 'history',
  title: 'History',
  description:
    'The kept versions of a document (each is the body before a write), the difference of two of them, or bring one back. A rollback can be undone.',
  input: Input,
  output: Output,
  readOnly: false,
  destructive: true,
  async run(args, use) {
    const { door } = use
    const { action = 'list' } = args
    if (action === 'rollback') return rollBack(use, args)
    return action === 'difference' ? compare(door, args) : list(door, args)
  },
})

async function list(door: Door, { document_id, cursor }: Input) {
  const params = { id: document_id }
  const [{ data, page }, current] = await Promise.all([
    door<Static<typeof DocumentVersion>[]>({ operationId: 'listVersions', params, query: { limit: 20, cursor } }),
    door<Static<typeof Document>>({ operationId: 'getDocument', params }),
  ])
  const versions = data.map(({ seq, created_at, created_by }) => ({ seq, created_at, created_by }))
  const lines = versions.map(
    ({ seq, created_at, created_by }) => `${seq}: ${new Date(created_at).toISOString()} ${created_by ?? 'unknown'}`,
  )
  const next_cursor = page?.next_cursor ?? null
  return {
    structured: {
      document_id,
      version: current.data.version,
      freshness: 'current' as const,
      versions,
      next_cursor,
    },
    summary: [
      `Document ${document_id}, current version ${current.data.version}; ${versions.length} kept versions, newest first (seq: time, user):`,
      ...lines,
      ...(next_cursor === null ? [] : [`More: cursor "${next_cursor}".`]),
    ].join('\n'),
  }
}

async function compare(door: Door, { document_id, seq, to_seq }: Input) {
  const { data } = await door<Static<typeof DocumentDifference>>({
    operationId: 'getDiff',
    params: { id: document_id },
    query: { from: seq, to: to_seq, ids: 'match' },
  })
  const { version } = data.to
  const [state, freshness] = to_seq === undefined ? ['', 'current' as const] : ['kept ', 'kept' as const]
  return differenceAnswer(
    { difference: data },
    {
      structured: { document_id, version, freshness },
      summary: `Document ${document_id}, ${state}version ${version}: from ${data.from.seq} to ${data.to.seq}`,
      budget,
    },
  )
}

type RolledBack = Static<typeof BodyWritten> & { diff?: Static<typeof DocumentDifference> }

async function rollBack(use: ToolUse, args: Input) {
  const { document_id: documentId, base_version, dry_run = false } = args
  const { seq } = needed(args, { names: ['seq'], when: 'to bring a version back' })
  const { data } = await use.door<RolledBack>({
    operationId: 'rollbackDocument',
    params: { id: documentId, seq },
    query: { dry_run: dry_run || undefined },
    headers: { ...ifMatch(base_version), prefer: 'return=minimal' },
  })
  const { version } = data
  const seen =
    data.diff === undefined ? await writtenDifference(use, { documentId, version }) : { difference: data.diff }
  const what = dry_run ? `nothing was stored, version ${seq} would come back` : `version ${seq} is back`
  return differenceAnswer(seen, {
    structured: { document_id: documentId, version, freshness: 'current' as const, dry_run },
    summary: `Document ${documentId}, version ${version}: ${what}`,
    budget,
  })
}
