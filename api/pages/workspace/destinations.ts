import { Refusal } from '../../../shared/errors/errors.ts'
import { childPage } from '../../../shared/knowledge-bases/children.ts'
import { findFolder } from '../../../shared/knowledge-bases/folders.ts'
import { findKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import { knowledgeBasePage } from '../../../shared/knowledge-bases/queries.ts'
import { childCursors } from '../../http/child-cursors.ts'
import type { AccountCall } from '../account-page.ts'
import type { Form } from '../page.ts'
import { type FolderAddress, idIn, idOf } from './addresses.ts'
import { type Place, placeOf } from './place.ts'
import { type Problem, problemOf } from './problems.ts'

// The most knowledge bases or folders that a step offers at once.
const offeredAtOnce = 100

/**
 * The destinations that a step offers. `next` is the query of the next page of them, or null. `isGone` says that the
 * destination was deleted meanwhile, and that the step is at a place above it.
 */
type Offered = { choices: { name: string; query: string; isItself: boolean }[]; next: string | null; isGone?: boolean }

/**
 * A step on the way to a destination: all knowledge bases for `place` null, or else a folder or root. `kept` goes
 * behind the query of each link.
 */
export type Step = Offered & { place: Place | null; destination: FolderAddress | null; isThere: boolean; kept: string }

/**
 * What is moved: its workspace and the place where it is. `folderId` is the number of a folder that is moved itself.
 * `kept` is a query without its question mark, such as `&document=…`, that all links of a step carry.
 */
export type Moving = { workspaceId: string; parent: FolderAddress | null; folderId: number | null; kept: string }

/** The place that a query names: nothing for all knowledge bases, and without a query the place `parent`. */
export function destinationOf(query: URLSearchParams, parent: FolderAddress | null): FolderAddress | null {
  const [base, folder] = [query.get('knowledge_base'), query.get('folder')]
  if (base === null) return parent
  if (base === '') return null
  return { knowledgeBaseId: idOf(base), folderId: folder === null ? null : idOf(folder) }
}

/** The place that a form names. */
export function destinationIn(form: Form): FolderAddress {
  const folder = form.field('folder')
  return { knowledgeBaseId: idOf(form.field('knowledge_base')), folderId: folder === '' ? null : idOf(folder) }
}

/**
 * The step at a destination. A person walks to the destination through links, a level at a time, so that no page shows
 * a whole tree.
 */
export async function destinationStep(
  call: AccountCall,
  { moving, destination }: { moving: Moving; destination: FolderAddress | null },
): Promise<Step> {
  if (destination === null) return allBases(call, moving)
  try {
    return await stepAt(call, { moving, destination })
  } catch (error) {
    if (!isGone(error)) throw error
    const above = destination.folderId === null ? null : { ...destination, folderId: null }
    return { ...(await destinationStep(call, { moving, destination: above })), isGone: true }
  }
}

/** The problem of a move that was refused, as `problemOf` has it, also where the destination is gone. */
export function moveProblemOf(error: unknown): Problem {
  return isGone(error) ? { status: 404, message: 'That place no longer exists. Choose another one.' } : problemOf(error)
}

function isGone(error: unknown): boolean {
  return error instanceof Refusal && ['folder_not_found', 'knowledge_base_not_found'].includes(error.code)
}

async function allBases(call: AccountCall, { workspaceId, kept }: Moving): Promise<Step> {
  const after = idIn(call.query.get('after')) ?? 0
  const page = { workspaceIds: [workspaceId], after, limit: offeredAtOnce }
  const rows = await knowledgeBasePage(call.service.database, page)
  const bases = rows.slice(0, offeredAtOnce)
  const last = bases.at(-1)
  return {
    place: null,
    destination: null,
    isThere: false,
    kept,
    choices: bases.map(({ id, name }) => ({
      name,
      query: queryOf({ knowledgeBaseId: id, folderId: null }) + kept,
      isItself: false,
    })),
    next: rows.length > offeredAtOnce && last ? `?knowledge_base=&after=${last.id}${kept}` : null,
  }
}

async function stepAt(call: AccountCall, at: { moving: Moving; destination: FolderAddress }): Promise<Step> {
  const { parent, folderId: itself, kept } = at.moving
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
    isThere: parent?.knowledgeBaseId === knowledgeBaseId && parent.folderId === folderId,
    kept,
    choices: folders.map(({ folder_number, label }) => ({
      name: label,
      query: queryOf({ knowledgeBaseId, folderId: folder_number }) + kept,
      isItself: folder_number !== null && folder_number === itself,
    })),
    next: hasMore ? `${queryOf(destination)}&cursor=${encodeURIComponent(cursors.after(last))}${kept}` : null,
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
