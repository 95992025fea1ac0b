import type { Queryable } from '../../../shared/database/database.ts'
import { documentPage } from '../../../shared/documents/list.ts'
import { tagsOfDocuments } from '../../../shared/documents/tags.ts'
import { type ChildRow, childPage } from '../../../shared/knowledge-bases/children.ts'
import { childCursors } from '../../http/child-cursors.ts'
import { type CursorScope, decodeCursor, encodeCursor } from '../../http/pagination.ts'
import { type Moment, momentOf } from '../render.ts'
import { type FolderAddress, pathOf } from './addresses.ts'

/** The most folders and documents on a page of a list. */
const listedAtOnce = 50

/** A folder or document in a list of the workspace. `before` and `after` are the ids of its neighbours of its kind. */
export type Listed = {
  kind: 'folder' | 'document'
  id: string
  name: string
  tags: readonly string[]
  /** The language of a translation; null for everything else. */
  locale: string | null
  changed: Moment | null
  before: string | null
  after: string | null
}

/** A page of a list. `next` is the cursor of the next page, or null. */
export type ListedPage = { items: Listed[]; next: string | null }

type Source = { db: Queryable; workspaceId: string; address: FolderAddress; cursor: string | undefined }

/**
 * Returns a page of what is directly in a folder or at the root of a knowledge base, as people have arranged it.
 * Folders come first, and what nobody has arranged comes by name. Refuses with 400 a cursor of another list.
 */
export async function arrangedPage({ db, workspaceId, address, cursor }: Source): Promise<ListedPage> {
  const filters = { knowledge_base_id: address.knowledgeBaseId, folder_id: address.folderId }
  const cursors = childCursors({ endpoint: 'folder page', filters, sort: 'manual' })
  const after = cursors.read(cursor)
  const rows = await childPage(db, { workspaceId, ...address, after, limit: listedAtOnce, sort: 'manual' })
  const shown = rows.slice(0, listedAtOnce)
  const last = shown.at(-1)
  // The last item of the page before is a neighbour, too.
  const seen =
    after === null ? null : { rank: after.rank, id: after.rank === 0 ? String(after.folderNumber) : after.documentId }
  const all = [...(seen === null ? [] : [seen]), ...rows.map((row) => ({ rank: row.rank, id: idOf(row) }))]
  const offset = seen === null ? 0 : 1
  const neighbour = (index: number, rank: number) => (all[index]?.rank === rank ? (all[index]?.id ?? null) : null)
  const items = shown.map((row, index) => ({
    ...listedChild(row),
    before: neighbour(index + offset - 1, row.rank),
    after: neighbour(index + offset + 1, row.rank),
  }))
  return {
    items: await withTags(db, { workspaceId, items }),
    next: rows.length > listedAtOnce && last !== undefined ? cursors.after(last) : null,
  }
}

/**
 * Returns a page of the documents of a knowledge base, in all its folders or directly in one of them, the last changed
 * first; with `tags` those that have all these tags. Refuses with 400 a cursor of another list.
 */
export async function changedPage(source: Source & { tags: readonly string[] }): Promise<ListedPage> {
  const { db, workspaceId, address, cursor, tags } = source
  const filters = { knowledge_base_id: address.knowledgeBaseId, folder_id: address.folderId, tags }
  const scope: CursorScope = { endpoint: pathOf(address), filters, sort: 'updated_at' }
  const rows = await documentPage(db, {
    workspaceIds: [workspaceId],
    knowledgeBaseId: address.knowledgeBaseId,
    folderId: address.folderId ?? undefined,
    includeVariants: true,
    metadata: tags.length === 0 ? undefined : { tags, properties: [] },
    sort: 'updated_at',
    after: cursor === undefined ? null : decodeCursor(scope, cursor, ['number', 'string']),
    limit: listedAtOnce,
  })
  const shown = rows.slice(0, listedAtOnce)
  const last = shown.at(-1)
  return {
    items: shown.map((row) => ({
      kind: 'document',
      id: row.id,
      name: row.title,
      tags: row.tags,
      locale: row.variant_role === 'translation' ? row.locale : null,
      changed: momentOf(row.updated_at),
      before: null,
      after: null,
    })),
    next: rows.length > listedAtOnce && last ? encodeCursor(scope, [last.updated_at, last.id]) : null,
  }
}

function idOf({ rank, folder_number, document_id }: ChildRow): string {
  return rank === 0 ? String(folder_number) : document_id
}

function listedChild(row: ChildRow): Omit<Listed, 'before' | 'after'> {
  const { label, locale, variant_role, updated_at } = row
  return {
    kind: row.rank === 0 ? 'folder' : 'document',
    id: idOf(row),
    name: label,
    tags: [],
    locale: variant_role === 'translation' ? locale : null,
    changed: updated_at === null ? null : momentOf(updated_at),
  }
}

async function withTags(
  db: Queryable,
  { workspaceId, items }: { workspaceId: string; items: Listed[] },
): Promise<Listed[]> {
  const documentIds = items.filter(({ kind }) => kind === 'document').map(({ id }) => id)
  const tagged = await tagsOfDocuments(db, { workspaceId, documentIds })
  const tagsOf = new Map(tagged.map(({ id, tags }) => [id, tags]))
  return items.map((item) => ({ ...item, tags: tagsOf.get(item.id) ?? [] }))
}
