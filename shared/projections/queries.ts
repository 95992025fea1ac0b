import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database.ts'
import { Nullable } from '../identifiers.ts'
import type { DocumentJob } from '../queues.ts'
import { row } from '../row.ts'

const SourceShape = Type.Object({
  version: Type.String(),
  body_seq: Type.Number(),
  title: Type.String(),
  knowledge_base_id: Type.Number(),
  locale: Nullable(Type.String()),
})

/** What projections derive from, apart from the text of the body; comparing it tells whether a source has moved. */
export type DocumentSource = Static<typeof SourceShape>

/**
 * The current source of a document, locked FOR SHARE: until the worker's transaction ends, no write can move it, and
 * other workers are not held up. Null when the document is gone.
 */
export function lockSource(tx: Transaction, job: DocumentJob): Promise<DocumentSource | null> {
  return tx.maybeOne(
    prepared(sql.type(row(SourceShape))`
    SELECT version, body_seq, title, knowledge_base_id, locale FROM documents
    WHERE workspace_id = ${job.workspace_id} AND id = ${job.document_id} FOR SHARE`),
  )
}

const LoadedShape = Type.Object({ ...SourceShape.properties, body: Type.String() })

/** The source with the body's canonical text, unlocked; or null when the document is gone. */
export function loadSource(db: Queryable, job: DocumentJob): Promise<(DocumentSource & { body: string }) | null> {
  return db.maybeOne(
    prepared(sql.type(row(LoadedShape))`
    SELECT d.version, d.body_seq, d.title, d.knowledge_base_id, d.locale, b.body
    FROM documents d
    JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
    WHERE d.workspace_id = ${job.workspace_id} AND d.id = ${job.document_id}`),
  )
}

/** Notes that a projection has caught up with its source. */
export async function markCurrent(tx: Transaction, input: { projection: string; job: DocumentJob }): Promise<void> {
  await tx.query(
    prepared(sql.unsafe`
    DELETE FROM stale_projections
    WHERE workspace_id = ${input.job.workspace_id} AND projection = ${input.projection}
      AND document_id = ${input.job.document_id}`),
  )
}

const LaggingRow = row(Type.Object({ workspace_id: Type.String(), document_id: Type.String() }))

/** Documents whose projection has lagged for longer than `seconds`, the longest first. */
export function laggingDocuments(
  db: Queryable,
  input: { projection: string; seconds: number; limit: number },
): Promise<readonly DocumentJob[]> {
  return db.any(sql.type(LaggingRow)`
    SELECT workspace_id, document_id FROM stale_projections
    WHERE projection = ${input.projection} AND since < now() - make_interval(secs => ${input.seconds})
    ORDER BY since LIMIT ${input.limit}`)
}
