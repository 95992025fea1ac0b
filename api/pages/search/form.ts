import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import { titlesOf } from '../../../shared/documents/queries.ts'
import { tagPage } from '../../../shared/documents/tags.ts'
import { visibleFolder } from '../../../shared/knowledge-bases/folders.ts'
import { knowledgeBasePage, visibleKnowledgeBase } from '../../../shared/knowledge-bases/queries.ts'
import { idIn } from '../workspace/addresses.ts'

/** The fields of the search form, as they are filled in. */
export type SearchForm = {
  q: string
  bases: { id: string; name: string; isChosen: boolean }[]
  /** How many knowledge bases the list shows, when there are more of them; null when it shows all. */
  firstBases: number | null
  /** Places and values that the search is narrowed to, and that can be taken away. */
  narrowed: { name: string; value: string; words: string }[]
  /** Tags that can be chosen. */
  tags: string[]
  types: { value: string; words: string; isChosen: boolean }[]
  after: string
  before: string
  isNewestFirst: boolean
  allLocales: boolean
  /** Whether a filter is in use. */
  isOpen: boolean
}

// The most knowledge bases and tags that can be chosen from a list.
const mostBases = 200
const mostTags = 100

const typeWords = {
  title: 'Titles',
  heading: 'Headings',
  paragraph: 'Paragraphs',
  codeBlock: 'Code',
  table: 'Tables',
  listItem: 'Lists',
}

const filters = [
  ...['knowledge_base_id', 'folder_id', 'document_id', 'tag', 'block_type'],
  ...['updated_after', 'updated_before', 'sort', 'locale'],
]

/** Fills the search form in with the parameters of the address. */
export async function searchFormOf(
  { db, caller }: { db: Queryable; caller: Caller },
  kept: URLSearchParams,
): Promise<SearchForm> {
  const workspaceIds = visibleWorkspaces(caller)
  const chosen = { base: kept.get('knowledge_base_id') ?? '', types: kept.getAll('block_type') }
  const [{ bases, hasMore }, tags, places] = await Promise.all([
    basesOf(db, { workspaceIds, chosen: chosen.base }),
    tagsOf(db, { workspaceIds, base: chosen.base }),
    placesOf(db, { workspaceIds, kept }),
  ])
  const given = [...kept].filter(([name]) => name === 'tag' || name.startsWith('property['))
  const values = given.map(([name, value]) => ({ name, value, words: `${wordsOf(name)}: ${value}` }))
  return {
    q: kept.get('q') ?? '',
    bases,
    firstBases: hasMore ? mostBases : null,
    narrowed: [...places, ...values],
    tags,
    types: Object.entries(typeWords).map(([value, words]) => ({
      value,
      words,
      isChosen: chosen.types.includes(value),
    })),
    after: dayOf(kept.get('updated_after')),
    before: dayOf(kept.get('updated_before')),
    isNewestFirst: kept.get('sort') === 'updated_at',
    allLocales: kept.get('locale') === 'all',
    isOpen: filters.some((name) => kept.has(name)) || values.length > 0,
  }
}

function wordsOf(name: string): string {
  return name === 'tag' ? 'Tag' : name.slice('property['.length, -1)
}

// The field of a day is filled in with a date only, so a time of another form leaves the field empty.
function dayOf(time: string | null): string {
  return /^\d{4}-\d{2}-\d{2}/.exec(time ?? '')?.[0] ?? ''
}

async function basesOf(db: Queryable, of: { workspaceIds: string[]; chosen: string }) {
  const rows = await knowledgeBasePage(db, { workspaceIds: of.workspaceIds, after: 0, limit: mostBases })
  const listed = rows.slice(0, mostBases)
  const isListed = listed.some(({ id }) => String(id) === of.chosen)
  const chosen = isListed ? null : await chosenBase(db, of)
  const bases = [...listed, ...(chosen === null ? [] : [chosen])].map(({ id, name }) => ({
    id: String(id),
    name,
    isChosen: String(id) === of.chosen,
  }))
  return { bases, hasMore: rows.length > mostBases }
}

async function chosenBase(db: Queryable, { workspaceIds, chosen }: { workspaceIds: string[]; chosen: string }) {
  const id = idIn(chosen)
  return id === null ? null : visibleKnowledgeBase(db, { id, workspaceIds })
}

async function tagsOf(
  db: Queryable,
  { workspaceIds, base }: { workspaceIds: string[]; base: string },
): Promise<string[]> {
  const found = await chosenBase(db, { workspaceIds, chosen: base })
  if (found === null) return []
  const tags = await tagPage(db, { workspaceId: found.workspace_id, id: found.id, after: '', limit: mostTags })
  return tags.slice(0, mostTags).map(({ tag }) => tag)
}

// The folder and the document that the search is narrowed to, by their names.
async function placesOf(db: Queryable, { workspaceIds, kept }: { workspaceIds: string[]; kept: URLSearchParams }) {
  const [folderId, documentId] = [kept.get('folder_id') ?? '', kept.get('document_id') ?? '']
  const id = idIn(folderId)
  const folder = id === null ? null : await visibleFolder(db, { id, workspaceIds })
  const [document] = documentId === '' ? [] : await titlesOf(db, { documentIds: [documentId], workspaceIds })
  return [
    ...(folderId === '' ? [] : [{ name: 'folder_id', value: folderId, words: `Folder: ${folder?.name ?? folderId}` }]),
    ...(documentId === ''
      ? []
      : [{ name: 'document_id', value: documentId, words: `Document: ${document?.title ?? documentId}` }]),
  ]
}
