import { type Static, Type } from 'typebox'
import { DocumentIds } from '../../../shared/documents/schema.ts'
import { Folder } from '../../../shared/knowledge-bases/schema.ts'
import { exactlyOne, needed, wrongArguments } from '../arguments.ts'
import { touchedDocuments, touchedMembers } from '../document-states.ts'
import type { Door } from '../door.ts'
import { type ToolAnswer, type ToolUse, tool } from '../tool.ts'

const Input = Type.Object({
  action: Type.Enum(['rename', 'move', 'create_folder']),
  document_ids: Type.Optional(DocumentIds),
  folder_id: Type.Optional(Type.Integer({ description: 'to rename or move' })),
  name: Type.Optional(Type.String({ description: 'new title or name' })),
  to_folder_id: Type.Optional(Type.Integer({ description: 'place to move to or create in' })),
  to_knowledge_base_id: Type.Optional(Type.Integer({ description: 'place, for its root' })),
})
type Input = Static<typeof Input>

const { id, name, knowledge_base_id, parent_id } = Folder.properties

const Output = Type.Object({
  ...touchedMembers,
  folder: Type.Optional(Type.Object({ id, name, knowledge_base_id, parent_id })),
})
type Answer = Promise<ToolAnswer<Static<typeof Output>>>

/** Renames and moves documents and folders, and makes folders. */
export const organise = tool({
  name: 'organise',
  title: 'Organise',
  description: 'Rename a document or folder, move up to 100 documents (all or none) or a folder, or create a folder.',
  input: Input,
  output: Output,
  readOnly: false,
  destructive: true,
  run(args, use) {
    const { door } = use
    if (args.action === 'create_folder') return createFolder(door, args)
    const isFolder = exactlyOne(args, ['document_ids', 'folder_id']) === 'folder_id'
    if (args.action === 'rename') return isFolder ? changeFolder(door, args) : renameDocument(use, args)
    return isFolder ? changeFolder(door, args) : moveDocuments(use, args)
  },
})

async function createFolder(door: Door, args: Input): Answer {
  const body = { name: nameOf(args), ...folderPlaceOf(args) }
  const { data } = await door<Folder>({ operationId: 'createFolder', body })
  return folderAnswer(data, 'Created')
}

async function changeFolder(door: Door, args: Input): Answer {
  const { folder_id: id } = needed(args, { names: ['folder_id'], when: 'for a folder' })
  const { data } = await door<Folder>({
    operationId: 'updateFolder',
    params: { id },
    body: args.action === 'rename' ? { name: nameOf(args) } : folderPlaceOf(args),
  })
  return folderAnswer(data, args.action === 'rename' ? 'Renamed' : 'Moved')
}

async function renameDocument(use: ToolUse, args: Input): Answer {
  const [id = '', ...others] = args.document_ids ?? []
  if (others.length > 0) throw wrongArguments([{ name: 'document_ids', message: 'names one document to rename' }])
  await use.door({ operationId: 'updateDocument', params: { id }, body: { title: nameOf(args) } })
  const touched = await touchedDocuments(use, [id])
  return touchedAnswer(touched, `Renamed the document ${id}. The text and its version stay.`)
}

async function moveDocuments(use: ToolUse, args: Input): Answer {
  const { document_ids: ids } = needed(args, { names: ['document_ids'], when: 'to move documents' })
  const place = exactlyOne(args, ['to_folder_id', 'to_knowledge_base_id'])
  const to = place === 'to_folder_id' ? { folder_id: args[place] } : { knowledge_base_id: args[place] }
  const { data } = await use.door<{ ids: string[] }>({ operationId: 'moveDocuments', body: { ids, ...to } })
  const touched = await touchedDocuments(use, data.ids)
  const where = args.to_folder_id === undefined ? `the root of knowledge base ${args[place]}` : `folder ${args[place]}`
  return touchedAnswer(touched, `Moved ${data.ids.length} documents to ${where}. Texts and versions stay.`)
}

function touchedAnswer(touched: Awaited<ReturnType<typeof touchedDocuments>>, done: string): Awaited<Answer> {
  return { structured: touched, summary: 'note' in touched ? `${done} ${touched.note}` : done }
}

function nameOf(args: Input): string {
  return needed(args, { names: ['name'], when: 'to rename or create' }).name
}

function folderPlaceOf(args: Input): object {
  const place = exactlyOne(args, ['to_folder_id', 'to_knowledge_base_id'])
  return place === 'to_folder_id' ? { parent_id: args[place] } : { knowledge_base_id: args[place] }
}

function folderAnswer({ id, name, knowledge_base_id, parent_id }: Folder, done: string): Awaited<Answer> {
  return {
    structured: { folder: { id, name, knowledge_base_id, parent_id } },
    summary: `${done} the folder ${id} in ${parent_id === null ? `knowledge base ${knowledge_base_id}` : `folder ${parent_id}`}.`,
    untrusted: name,
  }
}
