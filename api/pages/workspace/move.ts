import { updateDocument } from '../../../shared/documents/update.ts'
import { childPage } from '../../../shared/knowledge-bases/children.ts'
import { findFolder } from '../../../shared/knowledge-bases/folders.ts'
import { findKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import { knowledgeBasePage } from '../../../shared/knowledge-bases/queries.ts'
import { updateFolder } from '../../../shared/structure/folders.ts'
import { childCursors } from '../../http/child-cursors.ts'
import { type AccountCall, accountPage } from '../account-page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { view } from '../render.ts'
import { type FolderAddress, idOf, pathOf } from './addresses.ts'
import { type Item, itemPaths, requireItem } from './items.ts'
import { type Place, placeOf } from './place.ts'
import { type Problem, problemOf } from './problems.ts'

// The most knowledge bases or folders that the page offers at once.
const offeredAtOnce = 100

/** The destinations that a step offers. `next` is the query of the next page of them, or null. */
type Offered = { choices: { name: string; query: string; isItself: boolean }[]; next: string | null }

/** A step on the way to the destination: all knowledge bases for `place` null, or else a folder or root. */
type Step = Offered & { place: Place | null; destination: FolderAddress | null; isThere: boolean }

const moveView = view<{ csrfToken: string; item: Item; step: Step; problem: string | null }>('move')

/**
 * Moves a document or folder. The person walks to the destination through links, a level at a time, so that no page
 * shows a whole tree.
 */
export const movePages = itemPaths.slice(0, 2).map((path) =>
  accountPage({
    path: `${path}/move`,
    async get(call) {
      const item = await requireItem(call)
      return { html: await show(call, { item, destination: destinationOf(call.query, item), problem: null }) }
    },
    async post(call) {
      const item = await requireItem(call)
      const { submitted } = call
      const destination = {
        knowledgeBaseId: idOf(submitted.field('knowledge_base')),
        folderId: submitted.field('folder') === '' ? null : idOf(submitted.field('folder')),
      }
      const refuse = async ({ status, message }: Problem) => ({
        status,
        html: await show(call, { item, destination, problem: message }),
      })
      const moved = pageWrite(call, async (write) => {
        const { tx, caller } = write
        const { knowledgeBaseId: knowledge_base_id, folderId } = destination
        if (item.kind === 'document') {
          const metadata = { knowledge_base_id, folder_id: folderId }
          await updateDocument(write, { documentId: item.id, caller, metadata, guard: async () => {} })
          recordPageWrite(tx, { call, action: 'updateDocument', documentIds: [item.id] })
        } else {
          const folderOf = Number(item.id)
          await updateFolder(write, { id: folderOf, update: { knowledge_base_id, parent_id: folderId } })
          recordPageWrite(tx, { call, action: 'updateFolder', place: { folderId: folderOf } })
        }
        return { location: `${pathOf(destination)}#item-${item.id}` }
      })
      return moved.catch((error: unknown) => refuse(problemOf(error)))
    },
  }),
)

// The place that a query names: nothing for all knowledge bases, and without a query the place where the item is.
function destinationOf(query: URLSearchParams, item: Item): FolderAddress | null {
  const [base, folder] = [query.get('knowledge_base'), query.get('folder')]
  if (base === null) return item.parent
  if (base === '') return null
  return { knowledgeBaseId: idOf(base), folderId: folder === null ? null : idOf(folder) }
}

async function show(
  call: AccountCall,
  shown: { item: Item; destination: FolderAddress | null; problem: string | null },
): Promise<string> {
  const { item, destination, problem } = shown
  const { account, csrfToken } = call
  const step = destination === null ? await allBases(call, item) : await stepAt(call, { item, destination })
  return moveView({ title: `Move ${item.name}`, account, csrfToken, item, step, problem })
}

async function allBases(call: AccountCall, { workspaceId }: Item): Promise<Step> {
  const after = Number(/^[1-9][0-9]{0,14}$/.exec(call.query.get('after') ?? '')?.[0] ?? 0)
  const page = { workspaceIds: [workspaceId], after, limit: offeredAtOnce }
  const rows = await knowledgeBasePage(call.service.database, page)
  const bases = rows.slice(0, offeredAtOnce)
  const last = bases.at(-1)
  return {
    place: null,
    destination: null,
    isThere: false,
    choices: bases.map(({ id, name }) => ({
      name,
      query: queryOf({ knowledgeBaseId: id, folderId: null }),
      isItself: false,
    })),
    next: rows.length > offeredAtOnce && last ? `?knowledge_base=&after=${last.id}` : null,
  }
}

async function stepAt(call: AccountCall, at: { item: Item; destination: FolderAddress }): Promise<Step> {
  const { item } = at
  const { caller } = call
  const { database: db } = call.service
  const { workspaceId, destination } =
    at.destination.folderId === null
      ? {
          workspaceId: (await findKnowledgeBase(db, { caller, id: at.destination.knowledgeBaseId })).workspace_id,
          destination: at.destination,
        }
      : await folderAt(call, at.destination.folderId)
  const { knowledgeBaseId, folderId } = destination
  const filters = { knowledge_base_id: knowledgeBaseId, folder_id: folderId }
  const cursors = childCursors({ endpoint: 'destinations', filters, sort: 'manual' })
  const after = cursors.read(call.query.get('cursor') ?? undefined)
  const rows = await childPage(db, { workspaceId, ...destination, after, limit: offeredAtOnce, sort: 'manual' })
  const folders = rows.slice(0, offeredAtOnce).filter(({ rank }) => rank === 0)
  const last = rows[offeredAtOnce - 1]
  const hasMore = rows.length > offeredAtOnce && last?.rank === 0
  return {
    place: await placeOf(db, { workspace_id: workspaceId, knowledge_base_id: knowledgeBaseId, folder_id: folderId }),
    destination,
    isThere: item.parent?.knowledgeBaseId === knowledgeBaseId && item.parent.folderId === folderId,
    choices: folders.map(({ folder_number, label }) => ({
      name: label,
      query: queryOf({ knowledgeBaseId, folderId: folder_number }),
      isItself: item.kind === 'folder' && item.id === String(folder_number),
    })),
    next: hasMore ? `${queryOf(destination)}&cursor=${encodeURIComponent(cursors.after(last))}` : null,
  }
}

async function folderAt(call: AccountCall, id: number): Promise<{ workspaceId: string; destination: FolderAddress }> {
  const folder = await findFolder(call.service.database, { caller: call.caller, id })
  const destination = { knowledgeBaseId: folder.knowledge_base_id, folderId: folder.id }
  return { workspaceId: folder.workspace_id, destination }
}

function queryOf({ knowledgeBaseId, folderId }: FolderAddress): string {
  return `?knowledge_base=${knowledgeBaseId}${folderId === null ? '' : `&folder=${folderId}`}`
}
