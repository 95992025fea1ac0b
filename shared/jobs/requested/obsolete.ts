import type { FragmentSqlToken } from 'slonik'
import { prepared, sql, type Transaction } from '../../database/database.ts'

/** The condition that an open job has the body of a document as its source. The arguments are SQL for the two ids. */
export function isSourceOfOpenJob(workspaceId: FragmentSqlToken, documentId: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`(
    EXISTS (
      SELECT FROM summary_jobs j
      WHERE j.workspace_id = ${workspaceId} AND j.whole_document_id = ${documentId} AND j.finished_at IS NULL)
    OR EXISTS (
      SELECT FROM translation_jobs j
      WHERE j.workspace_id = ${workspaceId} AND j.source_document_id = ${documentId} AND j.finished_at IS NULL))`
}

/**
 * A consequence of body writes: ends the open jobs whose source is the changed document, so that nobody waits for a
 * result that cannot come (api/guide/jobs.md#obsolescence).
 */
export async function endJobsOfChangedBody(
  { tx }: { tx: Transaction },
  write: { document: { workspace_id: string; id: string }; hasOpenJobs: boolean },
): Promise<void> {
  if (!write.hasOpenJobs) return
  const { workspace_id: workspaceId, id } = write.document
  await end(tx, {
    workspaceId,
    summaries: { reason: 'source_changed', which: sql.fragment`whole_document_id = ${id}` },
    translations: { reason: 'source_changed', which: sql.fragment`source_document_id = ${id}` },
  })
}

/** A consequence of deletions: ends the open jobs whose target or source was deleted. */
export function endJobsOfDeleted(
  { tx }: { tx: Transaction },
  deleted: {
    workspaceId: string
    documents: readonly { id: string }[]
    folders: readonly number[]
    knowledgeBases: readonly number[]
  },
): Promise<void> {
  const documents = sql.array(
    deleted.documents.map(({ id }) => id),
    'text',
  )
  const folders = sql.array([...deleted.folders], 'int8')
  const knowledgeBases = sql.array([...deleted.knowledgeBases], 'int8')
  const summaries = sql.fragment`document_id = ANY(${documents}) OR folder_id = ANY(${folders})
    OR knowledge_base_id = ANY(${knowledgeBases})`
  const translations = sql.fragment`source_document_id = ANY(${documents}) OR target_document_id = ANY(${documents})`
  return end(tx, {
    workspaceId: deleted.workspaceId,
    summaries: { reason: 'target_deleted', which: summaries },
    translations: { reason: 'document_deleted', which: translations },
  })
}

type Ended = { reason: string; which: FragmentSqlToken }

async function end(
  tx: Transaction,
  { workspaceId, summaries, translations }: { workspaceId: string; summaries: Ended; translations: Ended },
): Promise<void> {
  const ended = ({ reason, which }: Ended) => sql.fragment`
    SET status = 'obsolete', obsolete_reason = ${reason}, finished_at = clock_timestamp()
    WHERE workspace_id = ${workspaceId} AND finished_at IS NULL AND (${which})`
  await tx.query(
    prepared(sql.unsafe`
    WITH summaries AS (UPDATE summary_jobs ${ended(summaries)}) UPDATE translation_jobs ${ended(translations)}`),
  )
}
