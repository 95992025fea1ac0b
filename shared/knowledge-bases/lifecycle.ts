import { type Caller, requireWriter, visibleWorkspaces } from '../auth/caller.ts'
import type { Queryable } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import {
  type KnowledgeBaseKey,
  type KnowledgeBaseRow,
  visibleKnowledgeBase,
  workspaceOfKnowledgeBase,
} from './queries.ts'

/** Who asks for which knowledge base. */
type Wanted = { caller: Caller; id: number }

/** The knowledge base the path names, as far as the caller can see it; otherwise 404. */
export async function findKnowledgeBase(db: Queryable, { caller, id }: Wanted): Promise<KnowledgeBaseRow> {
  const found = await visibleKnowledgeBase(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (found === null) throw missing(id)
  return found
}

/** The key of a knowledge base that the caller may change: 404 when it is not visible, 403 for viewers. */
export async function findWritableKnowledgeBase(db: Queryable, { caller, id }: Wanted): Promise<KnowledgeBaseKey> {
  const workspaceId = await workspaceOfKnowledgeBase(db, { id, workspaceIds: visibleWorkspaces(caller) })
  if (workspaceId === null) throw missing(id)
  requireWriter(caller, workspaceId)
  return { workspaceId, id }
}

function missing(id: number): Refusal {
  return new Refusal('knowledge_base_not_found', { details: { id } })
}
