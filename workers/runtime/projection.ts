import { computation } from '../../shared/computations/computation.ts'
import type { Queryable, Transaction } from '../../shared/database/database.ts'
import type { ProjectionComputation, ProjectionInput } from '../../shared/jobs/projections/computation.ts'
import type { Derived, DocumentSource } from '../../shared/jobs/projections/queries.ts'
import type { DocumentJob, Queue } from '../../shared/jobs/queues.ts'

/**
 * A source of a document as it was loaded. `projected_seq` is the `body_seq` of the stored data at the load, null when
 * nothing is stored. A result may build on the stored data. So the result is written only if the stored data still have
 * this `body_seq`.
 */
export type ProjectionSource = DocumentSource & { projected_seq: number | null }

/**
 * A projection: data that are derived from documents, one document at a time. `defineProjection` makes a worker of it,
 * which calls the members in the order in which they stand here. A round is one pass of load, compute and write for a
 * batch of documents; no document is in a batch twice. Any member may throw: nothing is written then, and pg-boss
 * tries the job again.
 *
 * A complete worker, which stores the number of lines of each document. Its table has the columns `workspace_id`,
 * `document_id`, `body_seq` and `lines`:
 *
 * ```ts
 * type LineSource = LoadedSource & { projected_seq: number | null }
 *
 * export const linesProjection: Projection<LineSource, number> = {
 *   name: 'lines',
 *   queue: queues.linesCount,
 *   async load(db, jobs) {
 *     const [sources, stored] = [await loadSources(db, jobs), await storedSeqs(db, jobs)]
 *     return new Map(Array.from(sources, ([id, source]) => [id, { ...source, projected_seq: stored.get(id) ?? null }]))
 *   },
 *   compute: atOnce(({ source }) => source.body.split('\n').length),
 *   projectedSeqs: (tx, jobs) => lockProjected(tx, jobs, { table: 'document_lines' }),
 *   sameSource: (loaded, current) => loaded.body_seq === current.body_seq,
 *   write: upsertLines,
 * }
 *
 * export const lineCounter = defineProjection(linesProjection)
 * ```
 *
 * `loadSources` and `lockProjected` are in `shared/jobs/projections/queries.ts`. `storedSeqs` and `upsertLines` are
 * statements of the noun.
 */
export type Projection<Source extends ProjectionSource, Result> = {
  /** The name of the projection in `projections` of `shared/jobs/queues.ts`. */
  name: string
  /** The queue of the projection, one of `queues` in `shared/jobs/queues.ts`. */
  queue: Queue<DocumentJob>
  /** The largest number of documents in a batch; 32 when absent. */
  together?: number
  /** Whether readers wait until the projection is current, so that every round is announced to them. */
  isAnnounced?: true
  /**
   * Reads the sources at the start of a round, outside any transaction and without locks. Returns them by document id.
   * A document may have no source, because it is gone or not yet committed. The round finds out which, when it has
   * locked the documents.
   */
  load: (db: Queryable, jobs: readonly DocumentJob[]) => Promise<ReadonlyMap<string, Source>>
  /**
   * Derives the result of one document, outside any transaction and without a database. `compute` runs in a thread,
   * with a limit of time and memory, unless its `isSmall` says that the document is small. An error fails the job of
   * this document alone.
   */
  compute: ProjectionComputation<Source, Result>
  /**
   * Locks the projection's rows in the order of document ids, in the transaction of the round, after the documents are
   * locked. Returns the `body_seq` of the stored data by document id; a document without stored data is left out.
   */
  projectedSeqs: (tx: Transaction, jobs: readonly DocumentJob[]) => Promise<ReadonlyMap<string, number>>
  /**
   * Tells whether the loaded and the current source give the same result. The comparison must cover everything that the
   * projection depends on and nothing more. Called in the transaction of the round, while the document and the
   * projection's row are locked. When the result is false before the last round, the document is derived again.
   */
  sameSource: (source: Source, current: DocumentSource) => boolean
  /**
   * Tells whether a source holds only the first part of what the stored data lack. Dividing the source into parts
   * bounds the memory that a document takes. The result of a part is written, and another job is sent for the next
   * part. When `isPart` is absent, no source is a part.
   */
  isPart?: (source: Source) => boolean
  /**
   * Writes the results in the transaction of the round, in which the jobs have just been completed. `derived` holds
   * only results that may be written, in the order of document ids. When there are no such results, `write` is not
   * called.
   */
  write: (tx: Transaction, derived: readonly Derived<Source, Result>[]) => Promise<void>
}

/** A set of functions by which a test changes a source, or ends a process, in the middle of a round. */
export type ProjectionHooks = { beforeCommit?: (job: DocumentJob) => Promise<void> }

/**
 * A projection whose functions `load`, `projectedSeq` and `write` are about one document each. `oneByOne` makes a
 * `Projection` of it.
 */
export type SingleProjection<Source extends ProjectionSource, Result> = Pick<
  Projection<Source, Result>,
  'name' | 'queue' | 'compute' | 'sameSource'
> & {
  /** Reads the source without a lock; null when the document is gone. */
  load: (db: Queryable, job: DocumentJob) => Promise<Source | null>
  /** Locks the projection's row and returns the `body_seq` of the stored data; null when nothing is stored. */
  projectedSeq: (tx: Transaction, job: DocumentJob) => Promise<number | null>
  /** Writes the result of the document. */
  write: (tx: Transaction, job: DocumentJob, derived: Derived<Source, Result>) => Promise<void>
}

/**
 * Makes a projection that derives each document in a transaction of its own. Such a projection suits data in which few
 * documents take part, so that a statement for many documents would gain nothing.
 */
export function oneByOne<Source extends ProjectionSource, Result>(
  single: SingleProjection<Source, Result>,
): Projection<Source, Result> {
  const { load, projectedSeq, write, ...projection } = single
  return {
    ...projection,
    together: 1,
    load: (db, jobs) => byDocument(jobs, (job) => load(db, job)),
    projectedSeqs: (tx, jobs) => byDocument(jobs, (job) => projectedSeq(tx, job)),
    async write(tx, derived) {
      for (const one of derived) await write(tx, one.job, one)
    },
  }
}

async function byDocument<Value>(
  jobs: readonly DocumentJob[],
  load: (job: DocumentJob) => Promise<Value | null>,
): Promise<ReadonlyMap<string, Value>> {
  const values = new Map<string, Value>()
  for (const job of jobs) {
    const value = await load(job)
    if (value !== null) values.set(job.document_id, value)
  }
  return values
}

/** A computation that walks over its input once and needs no thread. @internal */
export function atOnce<Source, Result>(
  run: (input: ProjectionInput<Source>) => Result,
): ProjectionComputation<Source, Result> {
  return computation({ module: import.meta.url, run, isSmall: () => true, cpuMs: () => 0 })
}
