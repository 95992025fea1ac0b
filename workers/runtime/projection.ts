import { type Computation, computation } from '../../shared/computations/computation.ts'
import type { Queryable, Transaction } from '../../shared/database/database.ts'
import type { Derived, DocumentSource } from '../../shared/jobs/projections/queries.ts'
import type { DocumentJob, Queue } from '../../shared/jobs/queues.ts'

/** What is loaded: the source, and the body_seq at which the projection stood, since a write may be incremental. */
export type ProjectionSource = DocumentSource & { projected_seq: number | null }

/**
 * A derived noun's projection of documents, declared: how sources are read, what becomes of each, where it goes. Whatever
 * touches the database does so for a whole batch of documents, of which no two jobs are about the same.
 */
export type Projection<Source extends ProjectionSource, Result> = {
  /** Its name in `projections` of shared/jobs/queues.ts. */
  name: string
  queue: Queue<DocumentJob>
  /** How many documents a batch has at most; 32 unless it says otherwise. */
  together?: number
  /** Reads the sources without a lock, by document id; documents that are gone are left out. */
  load: (db: Queryable, jobs: readonly DocumentJob[]) => Promise<ReadonlyMap<string, Source>>
  /** Derives, outside any transaction; from a large document in a thread, with a limit. */
  compute: ProjectionComputation<Source, Result>
  /** Whether the projection would come out the same from both: compares what it depends on, nothing more. */
  sameSource: (source: Source, current: DocumentSource) => boolean
  /** Locks the projection's rows in the order of document ids and returns the body_seq each stands at, by that id. */
  projectedSeqs: (tx: Transaction, jobs: readonly DocumentJob[]) => Promise<ReadonlyMap<string, number>>
  /** Writes what was derived, in the order of document ids. */
  write: (tx: Transaction, derived: readonly Derived<Source, Result>[]) => Promise<void>
}

/** What the result of one document follows from. */
export type ProjectionInput<Source> = { source: Source; job: DocumentJob }

/** How one document is derived. */
export type ProjectionComputation<Source, Result> = Computation<ProjectionInput<Source>, Result>

/** Points at which a test can make the source move, or a process die. */
export type ProjectionHooks = { beforeCommit?: (job: DocumentJob) => Promise<void> }

/** A computation that walks over its input once and needs no thread. */
export function atOnce<Source, Result>(
  run: (input: ProjectionInput<Source>) => Result,
): ProjectionComputation<Source, Result> {
  return computation({ module: import.meta.url, run, isSmall: () => true, cpuMs: () => 0 })
}
