import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import type { Queryable } from '../database/database.ts'
import { visibleDocument } from '../documents/queries.ts'
import { Refusal } from '../errors/errors.ts'
import { findFolder } from '../knowledge-bases/folders.ts'
import { workspaceOfKnowledgeBase } from '../knowledge-bases/queries.ts'
import type { NoSource, SummarySource } from './source.ts'
import type { SummaryTarget } from './target.ts'

/** The target as a request names it; `blockId` makes a section of a document. */
export type TargetRequest =
  | { type: 'document'; id: string; blockId?: string | undefined }
  | { type: 'folder'; id: number }
  | { type: 'knowledge_base'; id: number }

/** The target of a request as far as the caller can see it; otherwise 404. Whether its block exists is not looked at. */
export async function findSummaryTarget(
  db: Queryable,
  { caller, request }: { caller: Caller; request: TargetRequest },
): Promise<SummaryTarget> {
  const workspaceIds = visibleWorkspaces(caller)
  const { id } = request
  if (request.type === 'folder') {
    const folder = await findFolder(db, { caller, id: request.id })
    return { workspaceId: folder.workspace_id, type: 'folder', id: request.id, blockId: null }
  }
  if (request.type === 'knowledge_base') {
    const workspaceId = await workspaceOfKnowledgeBase(db, { id: request.id, workspaceIds })
    if (workspaceId === null) throw new Refusal('knowledge_base_not_found', { details: { id } })
    return { workspaceId, type: 'knowledge_base', id: request.id, blockId: null }
  }
  const document = await visibleDocument(db, { documentId: request.id, workspaceIds })
  if (document === null) throw new Refusal('document_not_found', { details: { id } })
  const place = { workspaceId: document.workspace_id, id: request.id }
  if (request.blockId === undefined) return { ...place, type: 'document', blockId: null }
  return { ...place, type: 'section', blockId: request.blockId }
}

/** Refuses with 404 when the target has gone. */
export function requireThere<T extends SummarySource | string>(
  found: T | NoSource,
  target: SummaryTarget,
): T | 'not_a_heading' {
  if (found !== 'gone') return found as T | 'not_a_heading'
  if (target.type === 'section')
    throw new Refusal('block_not_found', { details: { id: target.blockId, field: 'block_id' } })
  throw new Refusal(`${target.type}_not_found`, { details: { id: target.id } })
}

/** Refuses with 422 when the block is no top-level heading; it comes after every conflict (decisions 2.0). */
export function requireHeading<T>(found: T | 'not_a_heading'): T {
  if (found === 'not_a_heading') throw new Refusal('not_a_heading_block')
  return found
}
