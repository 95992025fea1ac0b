import { type Static, Type } from 'typebox'
import type { Document } from '../../../shared/documents/schema.ts'
import type { Folder, KnowledgeBase } from '../../../shared/knowledge-bases/schema.ts'
import { TrashEntry } from '../../../shared/trash/schema.ts'
import { shortName } from '../budget.ts'
import { touchedDocuments, touchedMembers } from '../document-states.ts'
import type { Door } from '../door.ts'
import { cursor, furtherOnes, NextCursor, pageLength } from '../paging.ts'
import { oneLine } from '../results.ts'
import { type ToolAnswer, type ToolUse, tool } from '../tool.ts'

const Input = Type.Object({
  trash_id: Type.Optional(Type.String({ description: 'what to bring back' })),
  to_folder_id: Type.Optional(Type.Integer({ description: 'another place than the old one' })),
  to_knowledge_base_id: Type.Optional(Type.Integer()),
  query: Type.Optional(Type.String({ description: 'list: part of the name' })),
  cursor,
})
type Input = Static<typeof Input>

const { id, name, path_text, document_count, expires_at } = TrashEntry.properties
const type = Type.String({ description: 'document, folder or knowledge_base' })

const Output = Type.Object({
  trash: Type.Optional(Type.Array(Type.Object({ id, type, name, path_text, document_count, expires_at }))),
  restored: Type.Optional(
    Type.Object({ type, id: Type.Union([Type.String(), Type.Integer()]), not_restored: Type.Array(Type.String()) }),
  ),
  ...touchedMembers,
  next_cursor: NextCursor,
})
type Answer = Promise<ToolAnswer<Static<typeof Output>>>

/** Lists the trash, and brings back what is in it. */
export const restore = tool({
  name: 'restore',
  title: 'Restore from the trash',
  description:
    'List what was deleted (no trash_id), or bring it back with its ids and versions. For an earlier version of a text, use history.',
  input: Input,
  output: Output,
  readOnly: false,
  run: (args, use) => (args.trash_id === undefined ? list(use.door, args) : bringBack(use, args, args.trash_id)),
})

async function list(door: Door, { query, cursor }: Input): Answer {
  const { data, page } = await door<TrashEntry[]>({
    operationId: 'listTrash',
    query: { q: query, cursor, limit: pageLength },
  })
  const trash = data.map(({ id, type, name, path_text, document_count, expires_at }) => ({
    id,
    type,
    name: shortName(name),
    path_text: shortName(path_text),
    document_count,
    expires_at,
  }))
  const line = ({ id, type, name, path_text, document_count: n }: (typeof trash)[number]) =>
    `${id}: ${type} ${oneLine(name)} (${n} documents) in ${oneLine(path_text)}`
  return {
    structured: { trash, next_cursor: page?.next_cursor ?? null },
    summary: `${trash.length} deletions, newest first${furtherOnes(page)}.`,
    untrusted: trash.map(line).join('\n'),
  }
}

type Restored = (Document | Folder | KnowledgeBase) & { not_restored: string[] }

async function bringBack(use: ToolUse, { to_folder_id, to_knowledge_base_id }: Input, trashId: string): Answer {
  const { data } = await use.door<Restored>({
    operationId: 'restoreFromTrash',
    params: { id: trashId },
    body: { folder_id: to_folder_id, knowledge_base_id: to_knowledge_base_id },
  })
  const { id, not_restored } = data
  const type = typeOf(data)
  const touched = typeof id === 'string' ? await touchedDocuments(use, [id]) : {}
  const lost = not_restored.length === 0 ? '' : ` Not restored: ${not_restored.join(', ')}.`
  const note = 'note' in touched ? ` ${touched.note}` : ''
  return {
    structured: { restored: { type, id, not_restored }, ...touched, next_cursor: null },
    summary: `Restored the ${type.replace('_', ' ')} ${id}.${lost}${note}`,
    untrusted: oneLine(shortName('title' in data ? data.title : data.name)),
  }
}

function typeOf(resource: Restored): TrashEntry['type'] {
  if ('title' in resource) return 'document'
  return 'parent_id' in resource ? 'folder' : 'knowledge_base'
}
