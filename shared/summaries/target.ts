import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import { type Queryable, sql } from '../database/database.ts'
import { requireDocument } from '../documents/require.ts'
import { Refusal } from '../errors/errors.ts'
import { findFolder } from '../knowledge-bases/folders.ts'
import { workspaceOfKnowledgeBase } from '../knowledge-bases/queries.ts'
import type { Summary } from './schema.ts'

/** The document, section, folder or knowledge base that a summary is about. */
export type SummaryTarget = { workspaceId: string } & (
  | { type: 'document'; id: string; blockId: null }
  | { type: 'section'; id: string; blockId: string }
  | { type: 'folder'; id: number; blockId: null }
  | { type: 'knowledge_base'; id: number; blockId: null }
)

/** A target as a request names it. `blockId` names a section of the document. */
export type TargetRequest =
  | { type: 'document'; id: string; blockId?: string | undefined }
  | { type: 'folder'; id: number }
  | { type: 'knowledge_base'; id: number }

/**
 * Returns the target of a request. Refuses with 404 when the caller cannot see the document, folder or knowledge base.
 * The existence of a block is not checked.
 */
export async function findSummaryTarget(
  db: Queryable,
  { caller, request }: { caller: Caller; request: TargetRequest },
): Promise<SummaryTarget> {
  if (request.type === 'folder') {
    const folder = await findFolder(db, { caller, id: request.id })
    return { workspaceId: folder.workspace_id, type: 'folder', id: request.id, blockId: null }
  }
  if (request.type === 'knowledge_base') {
    const workspaceId = await workspaceOfKnowledgeBase(db, { id: request.id, workspaceIds: visibleWorkspaces(caller) })
    if (workspaceId === null) throw new Refusal('knowledge_base_not_found', { details: { id: request.id } })
    return { workspaceId, type: 'knowledge_base', id: request.id, blockId: null }
  }
  const document = await requireDocument(db, { caller, documentId: request.id })
  const location = { workspaceId: document.workspace_id, id: request.id }
  if (request.blockId === undefined) return { ...location, type: 'document', blockId: null }
  return { ...location, type: 'section', blockId: request.blockId }
}

/** Returns a target as summaries and jobs show it. */
export function presentTarget(target: SummaryTarget): Summary['target'] {
  return { type: target.type, id: target.id, block_id: target.blockId }
}

/** The columns in which `summaries` and `summary_jobs` store a target. */
export type TargetColumns = {
  workspace_id: string
  target_type: SummaryTarget['type']
  target_id: string
  block_id: string
}

/** Returns the target of a row. */
export function targetOf(columns: TargetColumns): SummaryTarget {
  const { workspace_id: workspaceId, target_type: type, target_id: id, block_id: blockId } = columns
  if (type === 'section') return { workspaceId, type, id, blockId }
  if (type === 'document') return { workspaceId, type, id, blockId: null }
  return { workspaceId, type, id: Number(id), blockId: null }
}

/** The condition that a row is about a target. */
export function isAbout(target: SummaryTarget) {
  return sql.fragment`workspace_id = ${target.workspaceId} AND target_type = ${target.type}
    AND target_id = ${String(target.id)} AND block_id = ${target.blockId ?? ''}`
}

/** The columns of a target for an INSERT, whose values are `targetValues`. */
export const targetColumns = sql.fragment`
  workspace_id, target_type, target_id, block_id, document_id, folder_id, knowledge_base_id`

/** The values of `targetColumns`. */
export function targetValues(target: SummaryTarget) {
  const { type, id } = target
  const documentId = type === 'document' || type === 'section' ? id : null
  return sql.fragment`
    ${target.workspaceId}, ${type}, ${String(id)}, ${target.blockId ?? ''}, ${documentId},
    ${type === 'folder' ? id : null}, ${type === 'knowledge_base' ? id : null}`
}
