import Type, { type Static } from 'typebox'
import { prepared, type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { Nullable } from '../../schema/identifiers.ts'
import type { DocumentJob } from '../queues.ts'
import { smallLength } from './computation.ts'

const SourceShape = Type.Object({
  version: Type.String(),
  body_seq: Type.Number(),
  title: Type.String(),
  knowledge_base_id: Type.Number(),
  locale: Nullable(Type.String()),
})

/** The source of a projection apart from the text of the body. */
export type DocumentSource = Static<typeof SourceShape>

/** A source with the `body_seq` of the stored data at the load, null when nothing is stored. */
export type ProjectedSource = LoadedSource & { projected_seq: number | null }

/** The result of one document, with the source from which it was derived. */
export type Derived<Source, Result> = { job: DocumentJob; source: Source; result: Result }

/** The keys of documents as a table with two columns, to be named and joined by the caller. */
export function documentKeys(jobs: readonly DocumentJob[]) {
  const keys = jobs.map(({ workspace_id, document_id }) => [workspace_id, document_id])
  return sql.unnest(keys, ['text', 'text'])
}

const KeyedSource = row(Type.Object({ document_id: Type.String(), ...SourceShape.properties }))

/**
 * Locks documents FOR SHARE in the order of their ids and returns their current sources by id, without deleted
 * documents. Without `wait`, a document that somebody is writing at this moment is left out, too.
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

/** Locks one document FOR SHARE, behind any write of it, and returns its source; null when the document is gone. */
export async function lockSource(tx: Transaction, job: DocumentJob): Promise<DocumentSource | null> {
  return (await lockSources(tx, [job], { wait: true })).get(job.document_id) ?? null
}

/** A source with the canonical text of the body. */
export type LoadedSource = DocumentSource & { body: string }

const KeyedBody = row(Type.Object({ document_id: Type.String(), ...SourceShape.properties, body: Type.String() }))

/** Reads the sources of documents with their bodies by id, without locks and without deleted documents. */
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

/** `loadSources` for one document; null when it is gone. */
export async function loadSource(db: Queryable, job: DocumentJob): Promise<LoadedSource | null> {
  return (await loadSources(db, [job])).get(job.document_id) ?? null
}

/** The condition that the body of a document is large to `projectionComputation`, for a row `d` of `documents`. */
export const isLarge = sql.fragment`coalesce((
  SELECT octet_length(b.body) > ${smallLength} FROM document_bodies b
  WHERE b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq), false)`

/** The table of a projection, and the column with the `body_seq` of the body from which each row was derived. */
export type StoredIn = { table: string; column?: string }

const SeqRow = row(Type.Object({ document_id: Type.String(), body_seq: Type.Number() }))

/**
 * Returns the `body_seq` from which a projection of documents was derived, by document id. `lock` locks its rows in the
 * order of document ids. Documents without a row are left out.
 */
export async function projectedSeqs(
  db: Queryable,
  jobs: readonly DocumentJob[],
  { table, column = 'body_seq', lock = false }: StoredIn & { lock?: boolean },
): Promise<ReadonlyMap<string, number>> {
  const seqs = await db.any(
    prepared(sql.type(SeqRow)`
    SELECT p.document_id, p.${sql.identifier([column])} AS body_seq
    FROM ${documentKeys(jobs)} AS k (workspace_id, document_id)
    JOIN ${sql.identifier([table])} p ON p.workspace_id = k.workspace_id AND p.document_id = k.document_id
    ORDER BY p.document_id ${lock ? sql.fragment`FOR UPDATE OF p` : sql.fragment``}`),
  )
  return new Map(seqs.map(({ document_id, body_seq }) => [document_id, body_seq]))
}

/** Reads the sources of documents as `loadSources` does, with the `body_seq` of the stored data. */
export async function loadProjectedSources(
  db: Queryable,
  jobs: readonly DocumentJob[],
  storedIn: StoredIn,
): Promise<ReadonlyMap<string, ProjectedSource>> {
  const seqs = await projectedSeqs(db, jobs, storedIn)
  const sources = await loadSources(db, jobs)
  return new Map(Array.from(sources, ([id, source]) => [id, { ...source, projected_seq: seqs.get(id) ?? null }]))
}

/** Deletes the marks by which a projection is stale for documents that the caller has locked by `lockSources`. */
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
