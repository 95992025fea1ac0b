import { sql } from '../database/database.ts'
import type { Summary } from './schema.ts'

/** What a summary is about. */
export type SummaryTarget = { workspaceId: string } & (
  | { type: 'document'; id: string; blockId: null }
  | { type: 'section'; id: string; blockId: string }
  | { type: 'folder'; id: number; blockId: null }
  | { type: 'knowledge_base'; id: number; blockId: null }
)

/** The target as summaries and jobs show it. */
export function presentTarget(target: SummaryTarget): Summary['target'] {
  return { type: target.type, id: target.id, block_id: target.blockId }
}

/** The columns in which `summaries` and `summary_jobs` keep a target. */
export type TargetColumns = {
  workspace_id: string
  target_type: SummaryTarget['type']
  target_id: string
  block_id: string
}

/** The target of a row. */
export function targetOf(columns: TargetColumns): SummaryTarget {
  const { workspace_id: workspaceId, target_type: type, target_id: id, block_id: blockId } = columns
  if (type === 'section') return { workspaceId, type, id, blockId }
  if (type === 'document') return { workspaceId, type, id, blockId: null }
  return { workspaceId, type, id: Number(id), blockId: null }
}

/** The condition under which a row is about a target. */
export function isAbout(target: SummaryTarget) {
  return sql.fragment`workspace_id = ${target.workspaceId} AND target_type = ${target.type}
    AND target_id = ${String(target.id)} AND block_id = ${target.blockId ?? ''}`
}

/** The columns of a target for an INSERT, and their values. */
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
