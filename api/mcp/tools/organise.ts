import { type Static, Type } from 'typebox'
import { documentMetadataMembers, metadataInputMembers } from '../../../shared/documents/metadata.ts'
import { type Document, DocumentIds } from '../../../shared/documents/schema.ts'
import { Folder } from '../../../shared/knowledge-bases/schema.ts'
import { exactlyOne, needed, wrongArguments } from '../arguments.ts'
import { mostWithin } from '../budget.ts'
import { touchedDocuments, touchedMembers } from '../document-states.ts'
import type { Door } from '../door.ts'
import { type ToolAnswer, type ToolUse, tool } from '../tool.ts'

const Input = Type.Object({
  action: Type.Enum(['rename', 'move', 'create_folder', 'label']),
  document_ids: Type.Optional(DocumentIds),
  folder_id: Type.Optional(Type.Integer({ description: 'to rename or move' })),
  name: Type.Optional(Type.String({ description: 'new title or name' })),
  to_folder_id: Type.Optional(Type.Integer({ description: 'place to move to or create in' })),
  to_knowledge_base_id: Type.Optional(Type.Integer({ description: 'place, for its root' })),
  add_tags: Type.With(metadataInputMembers.tags, { description: 'to label' }),
  remove_tags: Type.With(metadataInputMembers.tags, { description: 'to label' }),
  properties: Type.Optional(
    Type.Unsafe<object>({ type: 'object', description: 'to label: values by name, null removes' }),
  ),
})
type Input = Static<typeof Input>

const { id, name, knowledge_base_id, parent_id } = Folder.properties

const Output = Type.Object({
  ...touchedMembers,
  folder: Type.Optional(Type.Object({ id, name, knowledge_base_id, parent_id })),
  tags: Type.Optional(documentMetadataMembers.tags),
  properties: Type.Optional(Type.Unsafe<Document['properties']>({ type: 'object' })),
})
type Answer = Promise<ToolAnswer<Static<typeof Output>>>

/** Renames, moves and labels documents, renames and moves folders, and makes folders. */
export const organise = tool({
  name: 'organise',
  title: 'Organise',
  description:
    'Rename a document or folder, move up to 100 documents (all or none) or a folder, create a folder, or label a document: see or change its tags and properties.',
  input: Input,
  output: Output,
  readOnly: false,
  destructive: true,
  run(args, use) {
    const { door } = use
    if (args.action === 'create_folder') return createFolder(door, args)
    if (args.action === 'label') return labelDocument(door, args)
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

// The most tokens of an answer with labels: properties of a document may be as large as a text.
const budgetOfLabels = 2500

async function labelDocument(door: Door, args: Input): Answer {
  const { add_tags: add, remove_tags: remove, properties: properties_patch } = args
  const isChange = (add ?? remove ?? properties_patch) !== undefined
  const { data } = await door<Document>({
    operationId: isChange ? 'updateDocument' : 'getDocument',
    params: { id: oneDocument(args) },
    ...(isChange && { body: { tags_patch: { add, remove }, properties_patch } }),
  })
  const { tags } = data
  return mostWithin(Object.entries(data.properties), {
    budget: budgetOfLabels,
    make: (shown) => {
      const properties = Object.fromEntries(shown)
      const left = Object.keys(data.properties).length - shown.length
      return {
        structured: { tags, properties },
        summary: `The document ${data.id} has ${tags.length} tags and ${shown.length + left} properties${left > 0 ? `, of which ${left} are left out` : ''}.`,
        untrusted: JSON.stringify({ tags, properties }),
      }
    },
  })
}

function oneDocument(args: Input): string {
  const [id, ...others] = needed(args, { names: ['document_ids'], when: 'to rename or label' }).document_ids
  if (id !== undefined && others.length === 0) return id
  throw wrongArguments([{ name: 'document_ids', message: 'names one document to rename or label' }])
}

async function renameDocument(use: ToolUse, args: Input): Answer {
  const id = oneDocument(args)
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
