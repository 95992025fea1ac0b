import type { Job } from 'pg-boss'
import type { Queryable } from '../../shared/database/database.ts'
import { documentSizes } from '../../shared/jobs/projections/queries.ts'
import type { DocumentJob } from '../../shared/jobs/queues.ts'

/** About how much text is derived from and written in one transaction, in bytes, unless one document has more. */
const mostBytes = 300_000

type Batch = { bytes: number; jobs: Map<string, Job<DocumentJob>> }

/**
 * Parts jobs that were fetched together into batches of `most` documents at most, each in the order of its documents'
 * ids. Small documents come first and large ones by themselves, so that nobody's sentence waits for somebody's book; two
 * jobs of one document, as a reindex can add, are never in one batch.
 */
export async function batchesOf(
  db: Queryable,
  { jobs, most }: { jobs: readonly Job<DocumentJob>[]; most: number },
): Promise<Job<DocumentJob>[][]> {
  if (jobs.length === 1 || most === 1) return jobs.map((job) => [job])
  const keys = jobs.map(({ data }) => data)
  const sizes = await documentSizes(db, keys)
  const sizeOf = (job: Job<DocumentJob>) => sizes.get(job.data.document_id) ?? 0
  const batches: Batch[] = []
  for (const job of jobs.toSorted((a, b) => sizeOf(a) - sizeOf(b))) {
    const { document_id } = job.data
    const bytes = sizeOf(job)
    const room = batches.find(
      (batch) => batch.jobs.size < most && batch.bytes + bytes <= mostBytes && !batch.jobs.has(document_id),
    )
    const batch = room ?? { bytes: 0, jobs: new Map() }
    if (room === undefined) batches.push(batch)
    batch.bytes += bytes
    batch.jobs.set(document_id, job)
  }
  return batches.map((batch) => [...batch.jobs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, job]) => job))
}
