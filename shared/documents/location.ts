import { type Caller, defaultWorkspace, requireWriter } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { createKnowledgeBase } from '../knowledge-bases/lifecycle.ts'
import { type Location, lockLocation } from '../knowledge-bases/locations.ts'
import { lockWorkspace, lowestKnowledgeBase } from '../knowledge-bases/queries.ts'
import type { QuotaLimits } from '../quotas/quotas.ts'
import type { NamedId } from '../schema/identifiers.ts'

/** The members of a body that say where a document goes. Absent members follow `api/guide/documents.md#location`. */
export type LocationInput = { knowledge_base_id?: NamedId | undefined; folder_id?: NamedId | null | undefined }

type Context = { tx: Transaction; caller: Caller; config: QuotaLimits }

/**
 * Finds the location of a new document and locks it until the transaction ends. The location is the named folder, else
 * the root of the named knowledge base. Without folder and knowledge base the location is the root of the default
 * workspace's first knowledge base. A workspace without a knowledge base gets one named `Default`. Refuses with 404
 * when the caller cannot see the location and with 403 when the caller may not write there. Refuses with 400 when
 * folder and knowledge base contradict each other.
 */
export async function locateNew(context: Context, input: LocationInput): Promise<Location> {
  const named = await locateNamed(context, input)
  if (named !== null) return named
  const { tx, caller } = context
  const workspaceId = defaultWorkspace(caller).workspace_id
  requireWriter(caller, workspaceId)
  const { id } = (await lowestKnowledgeBase(tx, workspaceId)) ?? (await createDefault(context, workspaceId))
  return { workspace_id: workspaceId, knowledge_base_id: id, folder_id: null }
}

/**
 * Returns the location of a document after a PATCH. `named` is the location that the PATCH names, which `locateNamed`
 * has locked, or null. A knowledge base alone means its root, and a folder alone means the knowledge base of the
 * folder. Refuses with 400 `cross_workspace_move` when the location is in another workspace.
 */
export function locateAgain(current: Location, input: LocationInput & { named: Location | null }): Location {
  const { named } = input
  if (named === null) return input.folder_id === undefined ? current : { ...current, folder_id: null }
  if (named.workspace_id !== current.workspace_id) throw new Refusal('cross_workspace_move')
  return named
}

/**
 * Finds the location that a request names and locks it until the transaction ends. Returns null when the request names
 * neither a knowledge base nor a folder. Refuses with 404 when the caller cannot see the location and with 403 when the
 * caller may not write there. Refuses with 400 when folder and knowledge base contradict each other. Call it before a
 * document is locked: `shared/knowledge-bases/README.md` states the order of locks.
 */
export function locateNamed(context: Context, input: LocationInput): Promise<Location | null> {
  return lockLocation(context.tx, {
    caller: context.caller,
    knowledgeBaseId: input.knowledge_base_id,
    folderId: input.folder_id,
    folderField: 'folder_id',
  })
}

// Several documents may be created in an empty workspace at once: the first creates the knowledge base for all of them.
async function createDefault(context: Context, workspaceId: string): Promise<{ id: number }> {
  const { tx, caller } = context
  await lockWorkspace(tx, workspaceId)
  const lowest = await lowestKnowledgeBase(tx, workspaceId)
  return lowest ?? createKnowledgeBase(context, { workspaceId, name: 'Default', createdBy: caller.userId })
}
