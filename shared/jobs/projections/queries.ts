import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { Nullable } from '../../schema/identifiers.ts'
import type { DocumentJob } from '../queues.ts'

const SourceShape = Type.Object({
  version: Type.String(),
  body_seq: Type.Number(),
  title: Type.String(),
  knowledge_base_id: Type.Number(),
  locale: Nullable(Type.String()),
})

/**
 * The source of a projection apart from the text of the body. Two sources of a document that were read at different
 * times are equal only if nothing has changed in between.
 */
export type DocumentSource = Static<typeof SourceShape>

/** The result of one document, with the source from which it was derived. */
export type Derived<Source, Result> = { job: DocumentJob; source: Source; result: Result }

/** The keys of documents as a table with two columns, to be named and joined by the caller. */
export function documentKeys(jobs: readonly DocumentJob[]) {
  const keys = jobs.map(({ workspace_id, document_id }) => [workspace_id, document_id])
  return sql.unnest(keys, ['text', 'text'])
}

const KeyedSource = row(Type.Object({ document_id: Type.String(), ...SourceShape.properties }))

/**
 * Locks documents FOR SHARE in the order of their ids and returns their current sources by id. No write can change a
 * locked source until the transaction ends; other workers can lock it too. A deleted document is left out. Without
 * `wait`, a document that somebody is writing at this moment is left out too.
 */
export async function lockSources(
  tx: Transaction,
  jobs: readonly DocumentJob[],
  { wait }: { wait: boolean },
): Promise<ReadonlyMap<string, DocumentSource>> {
  const sources = await tx.any(
    prepared(sql.type(KeyedSource)`
    SELECT d.id AS document_id, d.version, d.body_seq, d.title, d.knowledge_base_id, d.locale
    FROM ${documentKeys(jobs)} AS k (workspace_id, document_id)
    JOIN documents d ON d.workspace_id = k.workspace_id AND d.id = k.document_id
    ORDER BY d.id FOR SHARE OF d ${wait ? sql.fragment`` : sql.fragment`SKIP LOCKED`}`),
  )
  return new Map(sources.map(({ document_id, ...source }) => [document_id, source]))
}

/**
 * Locks one document FOR SHARE and returns its source; null when the document is gone. Waits for a write of the
 * document.
 */
export async function lockSource(tx: Transaction, job: DocumentJob): Promise<DocumentSource | null> {
  return (await lockSources(tx, [job], { wait: true })).get(job.document_id) ?? null
}

/** A source with the canonical text of the body. */
export type LoadedSource = DocumentSource & { body: string }

const KeyedBody = row(Type.Object({ document_id: Type.String(), ...SourceShape.properties, body: Type.String() }))

/** Reads the sources of documents with their bodies, without locks, by id. Deleted documents are left out. */
export async function loadSources(
  db: Queryable,
  jobs: readonly DocumentJob[],
): Promise<ReadonlyMap<string, LoadedSource>> {
  const sources = await db.any(
    prepared(sql.type(KeyedBody)`
    SELECT d.id AS document_id, d.version, d.body_seq, d.title, d.knowledge_base_id, d.locale, b.body
    FROM ${documentKeys(jobs)} AS k (workspace_id, document_id)
    JOIN documents d ON d.workspace_id = k.workspace_id AND d.id = k.document_id
    JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq`),
  )
  return new Map(sources.map(({ document_id, ...source }) => [document_id, source]))
}

/** Reads the source of one document with its body, without locks; null when the document is gone. */
export async function loadSource(db: Queryable, job: DocumentJob): Promise<LoadedSource | null> {
  return (await loadSources(db, [job])).get(job.document_id) ?? null
}

/** The estimated bytes from which a write takes a body for large. Rounds find smaller ones that are large to them. */
const largeBytes = 100_000

/** The condition that the body of a document is large, for a row `d` of `documents`. */
export const isLarge = sql.fragment`d.character_count + 100 * d.node_count > ${largeBytes}`

const SeqRow = row(Type.Object({ document_id: Type.String(), body_seq: Type.Number() }))

/**
 * Locks the rows of `table` that say from which body each document was derived, in the order of document ids. Returns
 * the `body_seq` in `column` by document id. Documents without a row are left out.
 */
export async function lockProjected(
  tx: Transaction,
  jobs: readonly DocumentJob[],
  { table, column = 'body_seq' }: { table: string; column?: string },
): Promise<ReadonlyMap<string, number>> {
  const seqs = await tx.any(
    prepared(sql.type(SeqRow)`
    SELECT p.document_id, p.${sql.identifier([column])} AS body_seq
    FROM ${documentKeys(jobs)} AS k (workspace_id, document_id)
    JOIN ${sql.identifier([table])} p ON p.workspace_id = k.workspace_id AND p.document_id = k.document_id
    ORDER BY p.document_id FOR UPDATE OF p`),
  )
  return new Map(seqs.map(({ document_id, body_seq }) => [document_id, body_seq]))
}

/**
 * Deletes the marks by which a projection of documents is stale, because the projection is current now. The caller has
 * locked the rows of the documents by `lockSources`.
 */
export async function markCurrent(
  tx: Transaction,
  input: { projection: string; jobs: readonly DocumentJob[] },
): Promise<void> {
  if (input.jobs.length === 0) return
  await tx.query(
    prepared(sql.unsafe`
    DELETE FROM stale_projections s USING ${documentKeys(input.jobs)} AS k (workspace_id, document_id)
    WHERE s.workspace_id = k.workspace_id AND s.projection = ${input.projection} AND s.document_id = k.document_id`),
  )
}
