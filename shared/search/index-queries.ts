import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database.ts'
import { Nullable } from '../identifiers.ts'
import type { DocumentJob } from '../queues.ts'
import { row } from '../row.ts'
import type { SearchOutline } from './outline.ts'

const IndexedBlockShape = Type.Object({ ord: Type.Number(), block_id: Nullable(Type.String()), hash: Type.String() })

/** What is known of an indexed row without its text: enough to see whether it is still right. */
export type IndexedBlock = Static<typeof IndexedBlockShape>

const IndexedDocument = row(Type.Object({ body_seq: Type.Number(), blocks: Type.Array(IndexedBlockShape) }))

/** The index of a document as it stands, its rows in order; null when there is none. */
export function indexedDocument(db: Queryable, job: DocumentJob) {
  return db.maybeOne(
    prepared(sql.type(IndexedDocument)`
    SELECT s.body_seq, coalesce(
      (SELECT jsonb_agg(jsonb_build_object('ord', b.ord, 'block_id', b.block_id, 'hash', b.hash) ORDER BY b.ord)
       FROM search_blocks b WHERE b.workspace_id = s.workspace_id AND b.document_id = s.document_id), '[]') AS blocks
    FROM search_documents s
    WHERE s.workspace_id = ${job.workspace_id} AND s.document_id = ${job.document_id}`),
  )
}

/** Locks the index of a document and returns the body_seq it stands at; null when there is none. */
export function lockIndex(tx: Transaction, job: DocumentJob): Promise<number | null> {
  return tx.maybeOneFirst(sql.type(row(Type.Object({ body_seq: Type.Number() })))`
    SELECT body_seq FROM search_documents
    WHERE workspace_id = ${job.workspace_id} AND document_id = ${job.document_id} FOR UPDATE`)
}

/** What the index was made from. */
export type IndexState = {
  version: string
  bodySeq: number
  title: string
  language: string
  epoch: number
  outline: SearchOutline
}

/** Writes the document's row, and its language where that is new to the workspace. */
export async function writeIndexState(tx: Transaction, job: DocumentJob, state: IndexState): Promise<void> {
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO search_documents
      (workspace_id, document_id, source_version, body_seq, title, language, epoch, outline)
    VALUES (${job.workspace_id}, ${job.document_id}, ${state.version}, ${state.bodySeq}, ${state.title},
      ${state.language}, ${state.epoch}, ${JSON.stringify(state.outline)}::jsonb)
    ON CONFLICT (workspace_id, document_id) DO UPDATE SET
      source_version = excluded.source_version, body_seq = excluded.body_seq, title = excluded.title,
      language = excluded.language, epoch = excluded.epoch, outline = excluded.outline, indexed_at = now()`),
  )
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO search_languages (workspace_id, language) VALUES (${job.workspace_id}, ${state.language})
    ON CONFLICT DO NOTHING`),
  )
}

/** A row of the index to be written. */
export type BlockRow = {
  ord: number
  blockId: string | null
  topBlockId: string | null
  type: string
  length: number
  hash: string
  body: string
  tsv: string
}

/** Deletes rows by their place, then writes new and changed ones. */
export async function replaceRows(
  tx: Transaction,
  job: DocumentJob,
  change: { remove: readonly number[]; write: readonly BlockRow[] },
): Promise<void> {
  if (change.remove.length > 0) {
    await tx.query(
      prepared(sql.unsafe`
      DELETE FROM search_blocks
      WHERE workspace_id = ${job.workspace_id} AND document_id = ${job.document_id}
        AND ord = ANY(${sql.array([...change.remove], 'int8')})`),
    )
  }
  if (change.write.length === 0) return
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO search_blocks
      (workspace_id, document_id, ord, block_id, top_block_id, type, length, hash, body, tsv)
    SELECT ${job.workspace_id}, ${job.document_id}, b.ord, b."blockId", b."topBlockId", b.type, b.length, b.hash,
      b.body, b.tsv::tsvector
    FROM jsonb_to_recordset(${JSON.stringify(change.write)}::jsonb) AS b
      (ord bigint, "blockId" text, "topBlockId" text, type text, length int, hash text, body text, tsv text)`),
  )
}
