import { type Static, Type } from 'typebox'
import { DocumentIds, mostNamedDocuments } from '../../../shared/documents/schema.ts'
import type { ErrorCode } from '../../../shared/errors/errors.ts'
import { Version } from '../../../shared/schema/identifiers.ts'
import { TrashEntry } from '../../../shared/trash/schema.ts'
import { afterWrite, storedNote } from '../after-write.ts'
import { exactlyOne, wrongArguments } from '../arguments.ts'
import { shortName } from '../budget.ts'
import { type Door, ifMatch } from '../door.ts'
import { oneLine } from '../results.ts'
import { tool } from '../tool.ts'

const Input = Type.Object({
  document_ids: Type.Optional(DocumentIds),
  folder_id: Type.Optional(Type.Integer({ description: 'with everything in it' })),
  version: Type.Optional(Type.Unsafe<string>({ ...Version, description: 'guard, for one document' })),
})
type Input = Static<typeof Input>

const { id, name, expires_at } = TrashEntry.properties

const Output = Type.Object({
  deleted: Type.Array(Type.Union([Type.String(), Type.Integer()])),
  trash: Type.Array(Type.Object({ id, type: Type.String(), name, expires_at })),
  note: Type.Optional(Type.String()),
})

/** Deletes documents, or a folder with everything in it, and says how to bring them back. */
export const remove = tool({
  name: 'delete',
  title: 'Delete',
  description: 'Delete up to 100 documents (all or none) or a folder. The answer has the trash ids for restore.',
  input: Input,
  output: Output,
  readOnly: false,
  destructive: true,
  idempotent: true,
  async run(args, use) {
    const deleted = await removed(use.door, args)
    const found = await afterWrite(use, () => entriesOf(use.door, deleted))
    const entries = (found.value ?? []).map(({ id, type, name, expires_at }) => ({
      id,
      type,
      name: shortName(name),
      expires_at,
    }))
    const what = args.folder_id === undefined ? `${deleted.length} documents` : `folder ${args.folder_id}`
    return {
      structured: { deleted, trash: entries, ...('code' in found && { note: unreadTrash(found.code) }) },
      summary: `Deleted ${what}. ${'code' in found ? unreadTrash(found.code) : undoOf(entries.length, deleted.length)}`,
      untrusted: entries.map(({ id, type, name }) => `${id}: ${type} ${oneLine(name)}`).join('\n'),
    }
  },
})

function unreadTrash(code: ErrorCode): string {
  return `${storedNote('the trash could not be read', code)}: restore without trash_id lists it.`
}

// A deletion that is repeated with its key after a restoration has no entry any more.
function undoOf(entries: number, deleted: number): string {
  if (entries === deleted) return 'To undo this, use restore with trash_id.'
  return `The trash has ${entries} of them: restore lists it, unless this service keeps none.`
}

async function removed(door: Door, args: Input): Promise<(string | number)[]> {
  const { document_ids = [], folder_id, version } = args
  exactlyOne(args, ['document_ids', 'folder_id'])
  const ids = [...new Set(document_ids)]
  if (version !== undefined && ids.length !== 1) {
    throw wrongArguments([{ name: 'version', message: 'guards a single document: name one, or leave version out' }])
  }
  if (folder_id !== undefined) {
    await door({ operationId: 'deleteFolder', params: { id: folder_id } })
    return [folder_id]
  }
  if (version === undefined) {
    await door({ operationId: 'deleteDocuments', body: { ids } })
    return ids
  }
  const [id = ''] = ids
  await door({ operationId: 'deleteDocument', params: { id }, headers: ifMatch(version) })
  return ids
}

// The newest entries of what was deleted just now.
async function entriesOf(door: Door, deleted: readonly (string | number)[]): Promise<TrashEntry[]> {
  const { data } = await door<TrashEntry[]>({ operationId: 'listTrash', query: { limit: mostNamedDocuments } })
  const isFolder = typeof deleted[0] === 'number'
  const isNamed = ({ type, resource_id }: TrashEntry) =>
    type === (isFolder ? 'folder' : 'document') && deleted.includes(resource_id)
  return data.filter(isNamed)
}
