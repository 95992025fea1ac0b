import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database.ts'
import type { DocumentJob } from '../queues.ts'
import { row } from '../row.ts'
import type { DocumentLink } from './links.ts'

const InlineShape = Type.Object({
  id: Type.String(),
  source_block_id: Type.String(),
  target_uri: Type.String(),
  anchor_text: Type.String(),
})

/** An inline relation as it is stored. */
export type InlineRelation = Static<typeof InlineShape>

const Extraction = row(Type.Object({ body_seq: Type.Number(), relations: Type.Array(InlineShape) }))

/** The inline relations of a document and the body_seq they stand at; null when none were ever extracted. */
export function extraction(db: Queryable, job: DocumentJob) {
  return db.maybeOne(
    prepared(sql.type(Extraction)`
    SELECT e.body_seq, coalesce(
      (SELECT jsonb_agg(jsonb_build_object('id', r.id, 'source_block_id', r.source_block_id,
         'target_uri', r.target_uri, 'anchor_text', r.anchor_text))
       FROM relations r WHERE r.workspace_id = e.workspace_id AND r.inline_source_id = e.document_id), '[]') AS relations
    FROM relation_extractions e
    WHERE e.workspace_id = ${job.workspace_id} AND e.document_id = ${job.document_id}`),
  )
}

/** Locks the extraction of a document and returns the body_seq it stands at; null when there is none. */
export function lockExtraction(tx: Transaction, job: DocumentJob): Promise<number | null> {
  return tx.maybeOneFirst(
    prepared(sql.type(row(Type.Object({ body_seq: Type.Number() })))`
    SELECT body_seq FROM relation_extractions
    WHERE workspace_id = ${job.workspace_id} AND document_id = ${job.document_id} FOR UPDATE`),
  )
}

/** Notes from which body the inline relations of a document are. */
export async function writeExtraction(
  tx: Transaction,
  job: DocumentJob,
  source: { version: string; body_seq: number },
): Promise<void> {
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO relation_extractions (workspace_id, document_id, source_version, body_seq)
    VALUES (${job.workspace_id}, ${job.document_id}, ${source.version}, ${source.body_seq})
    ON CONFLICT (workspace_id, document_id) DO UPDATE SET
      source_version = excluded.source_version, body_seq = excluded.body_seq, extracted_at = now()`),
  )
}

/** A new inline relation; the target is what its address names. */
export type NewInlineRelation = DocumentLink & {
  id: string
  target_document_id: string
  target_block_id: string | null
}

/** What has to change in the inline relations of a document. */
export type InlineChange = {
  remove: readonly string[]
  add: readonly NewInlineRelation[]
  reword: readonly Pick<InlineRelation, 'id' | 'anchor_text'>[]
}

/** Removes, adds and rewords inline relations of a document; those that stay as they are are not touched. */
export async function changeInline(tx: Transaction, job: DocumentJob, change: InlineChange): Promise<void> {
  const { workspace_id, document_id } = job
  if (change.remove.length > 0) {
    await tx.query(sql.unsafe`
      DELETE FROM relations
      WHERE workspace_id = ${workspace_id} AND id = ANY(${sql.array([...change.remove], 'text')})`)
  }
  if (change.reword.length > 0) {
    await tx.query(sql.unsafe`
      UPDATE relations r SET anchor_text = c.anchor_text
      FROM jsonb_to_recordset(${JSON.stringify(change.reword)}::jsonb) AS c (id text, anchor_text text)
      WHERE r.workspace_id = ${workspace_id} AND r.id = c.id`)
  }
  if (change.add.length === 0) return
  await tx.query(sql.unsafe`
    INSERT INTO relations
      (workspace_id, id, origin, predicate, source_document_id, source_block_id, target_uri, target_document_id,
       target_block_id, anchor_text)
    SELECT ${workspace_id}, c.id, 'inline', 'refers_to', ${document_id}, c.source_block_id, c.target_uri,
      c.target_document_id, c.target_block_id, c.anchor_text
    FROM jsonb_to_recordset(${JSON.stringify(change.add)}::jsonb) AS c
      (id text, source_block_id text, target_uri text, target_document_id text, target_block_id text, anchor_text text)`)
}
