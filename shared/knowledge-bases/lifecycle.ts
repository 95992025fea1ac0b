import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Queryable, Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { enforceQuota, type QuotaLimits } from '../quotas/quotas.ts'
import {
  insertKnowledgeBase,
  type KnowledgeBaseKey,
  type KnowledgeBaseRow,
  lockName,
  renameRow,
  visibleKnowledgeBase,
  workspaceOfKnowledgeBase,
} from './queries.ts'

/** A caller and the id of the knowledge base that the path of the request names. */
type NamedKnowledgeBase = { caller: Caller; id: number }

/** Returns a knowledge base that the caller can see; refuses with 404 `knowledge_base_not_found`. */
export async function findKnowledgeBase(db: Queryable, { caller, id }: NamedKnowledgeBase): Promise<KnowledgeBaseRow> {
  const found = await visibleKnowledgeBase(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (found === null) throw notFound(id)
  return found
}

/**
 * Returns the key of a knowledge base that the caller may change. Refuses with 404 when the caller cannot see the
 * knowledge base and with 403 when the caller is a viewer.
 */
export async function findWritableKnowledgeBase(
  db: Queryable,
  { caller, id }: NamedKnowledgeBase,
): Promise<KnowledgeBaseKey> {
  const workspaceId = await workspaceOfKnowledgeBase(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (workspaceId === null) throw notFound(id)
  requireWriter(caller, workspaceId)
  return { workspaceId, id }
}

/**
 * Returns the key and the name of a knowledge base that the caller may change. Nobody else can rename the knowledge
 * base until the transaction ends. Refuses as `findWritableKnowledgeBase` does.
 */
export async function lockWritableKnowledgeBase(
  tx: Transaction,
  named: NamedKnowledgeBase,
): Promise<KnowledgeBaseKey & { name: string }> {
  const key = await findWritableKnowledgeBase(tx, named)
  const name = await lockName(tx, key)
  if (name === null) throw notFound(named.id)
  return { ...key, name }
}

/** Creates a knowledge base in a workspace and trims its name. Refuses with 409 `quota_exceeded`. */
export async function createKnowledgeBase(
  context: { tx: Transaction; config: QuotaLimits },
  input: { workspaceId: string; name: string; createdBy: string },
): Promise<KnowledgeBaseRow> {
  const { workspaceId, createdBy } = input
  await enforceQuota(context, { workspaceId, quota: 'knowledge_bases', adding: 1 })
  return insertKnowledgeBase(context.tx, { workspaceId, name: input.name.trim(), createdBy })
}

/** Renames a knowledge base and trims the name. Refuses with 404 when the knowledge base was deleted meanwhile. */
export async function renameKnowledgeBase(
  tx: Transaction,
  input: KnowledgeBaseKey & { name: string },
): Promise<KnowledgeBaseRow> {
  const renamed = await renameRow(tx, { ...input, name: input.name.trim() })
  if (renamed === null) throw notFound(input.id)
  return renamed
}

/**
 * Checks that the request to delete a knowledge base repeats its id. `given` holds the `confirm_id` of the body and of
 * the query. Refuses with 400 `invalid_request` when both are absent, and with 400 `confirm_id_mismatch` when either
 * names another id.
 */
export function requireConfirmation(id: number, given: readonly (string | number | undefined)[]): void {
  const confirmations = given.filter((value) => value !== undefined)
  if (confirmations.length === 0) {
    throw new Refusal('invalid_request', { details: { fields: [{ path: '/confirm_id', message: 'is required' }] } })
  }
  if (confirmations.some((value) => String(value) !== String(id))) throw new Refusal('confirm_id_mismatch')
}

function notFound(id: number): Refusal {
  return new Refusal('knowledge_base_not_found', { details: { id } })
}
