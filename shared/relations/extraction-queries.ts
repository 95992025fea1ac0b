import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { documentKeys, lockProjected } from '../jobs/projections/queries.ts'
import type { DocumentJob } from '../jobs/queues.ts'
import type { DocumentLink } from './links.ts'

const InlineShape = Type.Object({
  id: Type.String(),
  source_block_id: Type.String(),
  target_uri: Type.String(),
  anchor_text: Type.String(),
})

/** An inline relation as it is stored. */
export type InlineRelation = Static<typeof InlineShape>

const Extraction = Type.Object({ body_seq: Type.Number(), relations: Type.Array(InlineShape) })
const KeyedExtraction = row(Type.Object({ document_id: Type.String(), ...Extraction.properties }))

/** The inline relations of documents by id, and the body_seq they stand at; without those never extracted from. */
export async function extractions(
  db: Queryable,
  jobs: readonly DocumentJob[],
): Promise<ReadonlyMap<string, Static<typeof Extraction>>> {
  const found = await db.any(
    prepared(sql.type(KeyedExtraction)`
    SELECT e.document_id, e.body_seq, coalesce(
      (SELECT jsonb_agg(jsonb_build_object('id', r.id, 'source_block_id', r.source_block_id,
         'target_uri', r.target_uri, 'anchor_text', r.anchor_text))
       FROM relations r WHERE r.workspace_id = e.workspace_id AND r.inline_source_id = e.document_id), '[]') AS relations
    FROM ${documentKeys(jobs)} AS k (workspace_id, document_id)
    JOIN relation_extractions e ON e.workspace_id = k.workspace_id AND e.document_id = k.document_id`),
  )
  return new Map(found.map(({ document_id, ...extraction }) => [document_id, extraction]))
}

/** Locks the extractions of documents in the order of their ids; the body_seq each stands at, by id. */
export function lockExtractions(tx: Transaction, jobs: readonly DocumentJob[]): Promise<ReadonlyMap<string, number>> {
  return lockProjected(tx, jobs, { table: 'relation_extractions' })
}

/** Notes from which bodies the inline relations of documents are. */
export async function writeExtractions(
  tx: Transaction,
  extracted: readonly { job: DocumentJob; source: { version: string; body_seq: number } }[],
): Promise<void> {
  const rows = extracted.map(({ job, source }) => [job.workspace_id, job.document_id, source.version, source.body_seq])
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO relation_extractions (workspace_id, document_id, source_version, body_seq)
    SELECT * FROM ${sql.unnest(rows, ['text', 'text', 'text', 'int8'])}
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
export type InlineRelationChange = {
  remove: readonly string[]
  add: readonly NewInlineRelation[]
  reword: readonly Pick<InlineRelation, 'id' | 'anchor_text'>[]
}

/** Removes, adds and rewords inline relations of documents; those that stay as they are are not touched. */
export async function changeInline(
  tx: Transaction,
  changes: readonly { job: DocumentJob; result: InlineRelationChange }[],
): Promise<void> {
  const removed = changes.flatMap(({ job, result }) => result.remove.map((id) => [job.workspace_id, id]))
  if (removed.length > 0) {
    await tx.query(sql.unsafe`
      DELETE FROM relations r USING ${sql.unnest(removed, ['text', 'text'])} AS c (workspace_id, id)
      WHERE r.workspace_id = c.workspace_id AND r.id = c.id`)
  }
  const reworded = changes.flatMap(({ job, result }) =>
    result.reword.map(({ id, anchor_text }) => [job.workspace_id, id, anchor_text]),
  )
  if (reworded.length > 0) {
    await tx.query(sql.unsafe`
      UPDATE relations r SET anchor_text = c.anchor_text
      FROM ${sql.unnest(reworded, ['text', 'text', 'text'])} AS c (workspace_id, id, anchor_text)
      WHERE r.workspace_id = c.workspace_id AND r.id = c.id`)
  }
  const added = changes.flatMap(({ job, result }) => result.add.map((relation) => ({ ...job, ...relation })))
  if (added.length === 0) return
  await tx.query(sql.unsafe`
    INSERT INTO relations
      (workspace_id, id, origin, predicate, source_document_id, source_block_id, target_uri, target_document_id,
       target_block_id, anchor_text)
    SELECT c.workspace_id, c.id, 'inline', 'refers_to', c.document_id, c.source_block_id, c.target_uri,
      c.target_document_id, c.target_block_id, c.anchor_text
    FROM jsonb_to_recordset(${JSON.stringify(added)}::jsonb) AS c
      (workspace_id text, document_id text, id text, source_block_id text, target_uri text, target_document_id text,
       target_block_id text, anchor_text text)`)
}
