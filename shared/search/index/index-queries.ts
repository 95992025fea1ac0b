import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { documentKeys } from '../../jobs/projections/queries.ts'
import type { DocumentJob } from '../../jobs/queues.ts'
import type { SearchOutline } from './outline.ts'

/** A row of the index without its text: enough to see whether the row is still right. */
export type IndexedBlock = { ord: number; block_id: string | null; hash: string }

/**
 * A list of the places of the rows of an index, without the row of the title. The three arrays are parallel. They hold
 * the `ord` of a row, the id of its block, and the position of the top-level block.
 */
export type RowPlaces = { ords: number[]; block_ids: string[]; positions: number[] }

// The statement of `indexedDocuments` makes thousands of blocks in this shape. The blocks are not checked, since
// checking would cost more than the rest of a small change.
const Blocks = Type.Unsafe<readonly IndexedBlock[]>({ type: 'array' })
const Places = Type.Unsafe<Pick<RowPlaces, 'ords' | 'block_ids'> | null>({})
type Places = Static<typeof Places>
const KeyedDocument = row(
  Type.Object({ document_id: Type.String(), body_seq: Type.Number(), blocks: Blocks, places: Places }),
)

/** The present indexes of documents by id, with their rows in order. Documents without an index are left out. */
export async function indexedDocuments(
  db: Queryable,
  jobs: readonly DocumentJob[],
): Promise<ReadonlyMap<string, { body_seq: number; blocks: readonly IndexedBlock[] }>> {
  const documents = await db.any(
    prepared(sql.type(KeyedDocument)`
    SELECT s.document_id, s.body_seq, coalesce(
      (SELECT json_agg(json_build_object('ord', b.ord, 'block_id', b.block_id, 'hash', b.hash) ORDER BY b.ord)
       FROM search_blocks b WHERE b.workspace_id = s.workspace_id AND b.document_id = s.document_id), '[]') AS blocks,
      CASE WHEN s.rows_at = s.indexed_at
        THEN json_build_object('ords', s.row_ords, 'block_ids', s.row_block_ids) END AS places
    FROM ${documentKeys(jobs)} AS k (workspace_id, document_id)
    JOIN search_documents s ON s.workspace_id = k.workspace_id AND s.document_id = k.document_id`),
  )
  return new Map(
    documents.map(({ document_id, body_seq, ...rows }) => [document_id, { body_seq, blocks: withBlockIds(rows) }]),
  )
}

// Where `places` is null, a worker of an earlier version wrote the index. Such workers kept the block ids in the rows.
function withBlockIds({ blocks, places }: { blocks: readonly IndexedBlock[]; places: Places }) {
  if (places === null) return blocks
  const ids = new Map(places.ords.map((ord, index) => [ord, places.block_ids[index] ?? null]))
  return blocks.map((block) => ({ ...block, block_id: ids.get(block.ord) ?? null }))
}

/** A state of a document from which the index of the document was made. */
export type IndexState = {
  job: DocumentJob
  version: string
  bodySeq: number
  title: string
  language: string
  epoch: number
  outline: SearchOutline
  places: RowPlaces
}

/**
 * Writes the states of documents, and the languages that are new to their workspaces. Languages are looked up before
 * they are inserted. Otherwise every worker would wait for the lock on the row of a common language.
 */
export async function writeIndexStates(tx: Transaction, states: readonly IndexState[]): Promise<void> {
  const rows = states.map(({ job, version, bodySeq, title, language, epoch, outline, places }) => [
    job.workspace_id,
    job.document_id,
    version,
    bodySeq,
    title,
    language,
    epoch,
    JSON.stringify(outline),
    JSON.stringify(places),
  ])
  await tx.query(
    prepared(sql.unsafe`
    WITH states AS (
      SELECT * FROM ${sql.unnest(rows, ['text', 'text', 'text', 'int8', 'text', 'text', 'int2', 'jsonb', 'jsonb'])}
        AS s (workspace_id, document_id, source_version, body_seq, title, language, epoch, outline, places)
    ), languages AS (
      INSERT INTO search_languages (workspace_id, language)
      SELECT DISTINCT workspace_id, language FROM states s
      WHERE NOT EXISTS (
        SELECT FROM search_languages l WHERE l.workspace_id = s.workspace_id AND l.language = s.language)
      ORDER BY workspace_id, language
      ON CONFLICT DO NOTHING
    )
    INSERT INTO search_documents (workspace_id, document_id, source_version, body_seq, title, language, epoch, outline,
      rows_at, row_ords, row_positions, row_block_ids)
    SELECT workspace_id, document_id, source_version, body_seq, title, language, epoch, outline,
      now(), jsonb_texts(places -> 'ords')::int8[], jsonb_texts(places -> 'positions')::int4[],
      jsonb_texts(places -> 'block_ids')
    FROM states
    ON CONFLICT (workspace_id, document_id) DO UPDATE SET
      source_version = excluded.source_version, body_seq = excluded.body_seq, title = excluded.title,
      language = excluded.language, epoch = excluded.epoch, outline = excluded.outline, indexed_at = now(),
      rows_at = now(), row_ords = excluded.row_ords, row_positions = excluded.row_positions,
      row_block_ids = excluded.row_block_ids`),
  )
}

/** The key of a row of the index within the workspace of its job. */
export type BlockKey = { job: DocumentJob; ord: number }

/** Deletes rows of indexes by their keys. A key without a row is passed over. */
export async function deleteIndexRows(tx: Transaction, keys: readonly BlockKey[]): Promise<void> {
  if (keys.length === 0) return
  const values = keys.map(({ job, ord }) => [job.workspace_id, job.document_id, ord])
  await tx.query(
    prepared(sql.unsafe`
    DELETE FROM search_blocks b
    USING ${sql.unnest(values, ['text', 'text', 'int8'])} AS k (workspace_id, document_id, ord)
    WHERE b.workspace_id = k.workspace_id AND b.document_id = k.document_id AND b.ord = k.ord`),
  )
}

/** A row of the index that is to be written. */
export type BlockRow = {
  ord: number
  type: string
  length: number
  hash: string
  body: string
  tsv: string
}

/** Inserts rows, whose keys must be free. */
export async function insertRows(tx: Transaction, rows: readonly (BlockRow & BlockKey)[]): Promise<void> {
  if (rows.length === 0) return
  const values = rows.map(({ job, ord, type, length, hash, body, tsv }) => [
    job.workspace_id,
    job.document_id,
    ord,
    type,
    length,
    hash,
    body,
    tsv,
  ])
  const types = ['text', 'text', 'int8', 'text', 'int2', 'text', 'text', 'tsvector']
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO search_blocks (workspace_id, document_id, ord, type, length, hash, body, tsv)
    SELECT * FROM ${sql.unnest(values, types)}`),
  )
}
