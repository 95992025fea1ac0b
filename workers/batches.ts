import type { Job } from 'pg-boss'
import type { Queryable } from '../shared/database.ts'
import { documentSizes } from '../shared/projections/queries.ts'
import type { DocumentJob } from '../shared/queues.ts'

/** About how much text is derived from and written in one transaction, in bytes, unless one document has more. */
const mostBytes = 500_000

/**
 * Parts jobs that were fetched together into batches to be worked on one after the other, each in the order of its
 * documents' ids. Small documents come first and large ones by themselves, so that nobody's sentence waits for
 * somebody's book; two jobs of one document, as a reindex can add, are never in one batch.
 */
export async function batchesOf(db: Queryable, jobs: readonly Job<DocumentJob>[]): Promise<Job<DocumentJob>[][]> {
  if (jobs.length === 1) return [[...jobs]]
  const sizes = await documentSizes(
    db,
    jobs.map(({ data }) => data),
  )
  const sizeOf = ({ data }: Job<DocumentJob>) => sizes.get(data.document_id) ?? 0
  const batches: { bytes: number; jobs: Map<string, Job<DocumentJob>> }[] = []
  for (const job of jobs.toSorted((a, b) => sizeOf(a) - sizeOf(b))) {
    const { document_id } = job.data
    const room = batches.find(({ bytes, jobs: others }) => bytes + sizeOf(job) <= mostBytes && !others.has(document_id))
    if (room === undefined) batches.push({ bytes: sizeOf(job), jobs: new Map([[document_id, job]]) })
    else {
      room.bytes += sizeOf(job)
      room.jobs.set(document_id, job)
    }
  }
  return batches.map((batch) => [...batch.jobs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, job]) => job))
}
