import Type from 'typebox'
import { type Database, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import type { JobOutcome } from './outcomes.ts'

/** The upper bounds of the histogram of durations, in seconds. */
export const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

const OutcomeRow = row(
  Type.Object({
    queue: Type.String(),
    outcome: Type.String(),
    jobs: Type.Number(),
    seconds: Type.Number(),
    buckets: Type.Array(Type.Unsafe<number | string>({})),
  }),
)

/** The counts of every queue and outcome so far, over all worker processes. */
export async function jobOutcomes(db: Queryable) {
  const rows = await db.any(sql.type(OutcomeRow)`
    SELECT queue, outcome, jobs, seconds, buckets FROM job_outcomes ORDER BY queue, outcome`)
  return rows.map((counted) => ({ ...counted, buckets: counted.buckets.map(Number) }))
}

type Tally = { queue: string; outcome: JobOutcome; jobs: number; seconds: number; buckets: number[] }

/** Counts how jobs end in one worker process, for the sums over all processes in a table, which the API serves. */
export class JobMetrics {
  readonly #database: Database
  readonly #tallies = new Map<string, Tally>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Counts one attempt in memory; `seconds` is how long it took. */
  count(job: { queue: string; outcome: JobOutcome; seconds: number }): void {
    const key = `${job.queue} ${job.outcome}`
    const tally = this.#tallies.get(key) ?? { ...job, jobs: 0, seconds: 0, buckets: durationBounds.map(() => 0) }
    tally.jobs += 1
    tally.seconds += job.seconds
    tally.buckets = tally.buckets.map((count, index) => count + Number(job.seconds <= (durationBounds[index] ?? 0)))
    this.#tallies.set(key, tally)
  }

  /** Adds the counts since the last call to the table, in the order of its key, so that no processes deadlock. */
  async flush(): Promise<void> {
    const tallies = [...this.#tallies.values()]
    this.#tallies.clear()
    if (tallies.length === 0) return
    await this.#database.query(sql.unsafe`
      INSERT INTO job_outcomes AS o (queue, outcome, jobs, seconds, buckets)
      SELECT queue, outcome, jobs, seconds, buckets
      FROM jsonb_to_recordset(${JSON.stringify(tallies)}::text::jsonb)
        AS t (queue text, outcome text, jobs bigint, seconds float8, buckets bigint[])
      ORDER BY queue, outcome
      ON CONFLICT (queue, outcome) DO UPDATE SET
        jobs = o.jobs + excluded.jobs,
        seconds = o.seconds + excluded.seconds,
        buckets = (SELECT array_agg(a + b ORDER BY n)
                   FROM unnest(o.buckets, excluded.buckets) WITH ORDINALITY AS u (a, b, n))`)
  }
}
