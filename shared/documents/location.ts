import { type Caller, defaultWorkspace, requireWriter } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { createKnowledgeBase } from '../knowledge-bases/create.ts'
import { holdPlace, type Place } from '../knowledge-bases/locations.ts'
import { lockWorkspace, lowestKnowledgeBase } from '../knowledge-bases/queries.ts'
import type { QuotaLimits } from '../quotas/quotas.ts'
import type { NamedId } from '../schema/identifiers.ts'

/** What a request says about the location; absent members are left to the rules of decisions 2.3. */
export type LocationInput = { knowledge_base_id?: NamedId | undefined; folder_id?: NamedId | null | undefined }

type Context = { tx: Transaction; caller: Caller; config: QuotaLimits }

/**
 * The place of a new document: the folder's knowledge base, or the named one, or the lowest of the default workspace,
 * or a new one called `Default` (decisions 2.3). 404 for what is not visible, 403 for a role that may not write, 400
 * when folder and knowledge base do not fit together. The place stays until the transaction ends.
 */
export async function locateNew(context: Context, input: LocationInput): Promise<Place> {
  const named = await locateNamed(context, input)
  if (named !== null) return named
  const { tx, caller } = context
  const workspaceId = defaultWorkspace(caller).workspace_id
  requireWriter(caller, workspaceId)
  const { id } = (await lowestKnowledgeBase(tx, workspaceId)) ?? (await createDefault(context, workspaceId))
  return { workspace_id: workspaceId, knowledge_base_id: id, folder_id: null }
}

/**
 * The place of a document after a PATCH, from the place that `locateNamed` found for the same input: a knowledge base
 * alone means its root, a folder alone brings its knowledge base along. Another workspace is refused with 400
 * `cross_workspace_move`.
 */
export function locateAgain(current: Place, input: LocationInput & { named: Place | null }): Place {
  const { named } = input
  if (named === null) return input.folder_id === undefined ? current : { ...current, folder_id: null }
  if (named.workspace_id !== current.workspace_id) throw new Refusal('cross_workspace_move')
  return named
}

/**
 * The place that a request names, held until the transaction ends; null when it names neither knowledge base nor
 * folder. Refuses as `locateNew`. To be called before a document is locked, see the README of knowledge bases.
 */
export function locateNamed(context: Context, input: LocationInput): Promise<Place | null> {
  return holdPlace(context.tx, {
    caller: context.caller,
    knowledgeBaseId: input.knowledge_base_id,
    folderId: input.folder_id,
    folderField: 'folder_id',
  })
}

// Of several documents that come to an empty workspace at once, the first makes the knowledge base for all.
async function createDefault(context: Context, workspaceId: string): Promise<{ id: number }> {
  const { tx, caller } = context
  await lockWorkspace(tx, workspaceId)
  const lowest = await lowestKnowledgeBase(tx, workspaceId)
  return lowest ?? createKnowledgeBase(context, { workspaceId, name: 'Default', createdBy: caller.userId })
}
