import type { Queryable, Transaction } from '../../shared/database/database.ts'
import type { Derived } from '../../shared/jobs/projections/queries.ts'
import type { DocumentJob } from '../../shared/jobs/queues.ts'
import type { Projection, ProjectionSource } from './projection.ts'

/** A projection that touches the database for one document only. */
export type SingleProjection<Source extends ProjectionSource, Result> = Pick<
  Projection<Source, Result>,
  'name' | 'queue' | 'compute' | 'sameSource'
> & {
  /** Reads the source without a lock; null when the document is gone. */
  load: (db: Queryable, job: DocumentJob) => Promise<Source | null>
  /** Locks the projection's row and returns the body_seq it stands at; null when there is none. */
  projectedSeq: (tx: Transaction, job: DocumentJob) => Promise<number | null>
  write: (tx: Transaction, job: DocumentJob, derived: Derived<Source, Result>) => Promise<void>
}

/**
 * A projection that few documents take part in, so that statements for many of them at once would bring nothing: each is
 * derived in a transaction of its own.
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
