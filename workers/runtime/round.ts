import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Job } from 'pg-boss'
import { limited } from '../../shared/computations/computation.ts'
import { compute } from '../../shared/computations/compute.ts'
import { inTransaction, type Transaction } from '../../shared/database/database.ts'
import type { JobOutcome } from '../../shared/jobs/metrics.ts'
import { type Derived, type DocumentSource, lockSources, markCurrent } from '../../shared/jobs/projections/queries.ts'
import type { DocumentJob } from '../../shared/jobs/queues.ts'
import { onBehalfOf } from '../../shared/turns/requester.ts'
import type { Part } from './job-queries.ts'
import { completeAttempts } from './job-worker.ts'
import type { Projection, ProjectionHooks, ProjectionInput, ProjectionSource } from './projection.ts'
import type { AttemptEnd } from './report.ts'
import type { Runtime } from './runtime.ts'

/** What derives, and where. */
export type Deriving<Source extends ProjectionSource, Result> = {
  projection: Projection<Source, Result>
  hooks: ProjectionHooks
  runtime: Runtime
}

/** Jobs of different documents, of which part of the queue they are, and whether this is their last round. */
export type Round = { jobs: readonly Job<DocumentJob>[]; part: Part; last: boolean }

/** How jobs ended, by their ids, and those that have to wait for the other part of the queue. */
export type RoundEnd = { ends: ReadonlyMap<string, AttemptEnd>; large: readonly Job<DocumentJob>[] }

/**
 * One round of load, compute and commit, in one transaction for all of the jobs. What cannot be computed ends with its
 * error and spoils no other. Large documents are left for the part of the queue that is for them. Neither ended nor
 * large are those that have to be derived again; beside others these are also documents that somebody is writing, since
 * a batch waits for nobody.
 */
export async function deriveRound<Source extends ProjectionSource, Result>(
  context: Deriving<Source, Result>,
  round: Round,
): Promise<RoundEnd> {
  const { projection, hooks, runtime } = context
  const sources = await projection.load(
    runtime.database,
    round.jobs.map(({ data }) => data),
  )
  const isLarge = ({ data: job }: Job<DocumentJob>) => {
    const source = sources.get(job.document_id)
    return source !== undefined && !projection.compute.isSmall({ source, job })
  }
  const large = round.part === 'small' ? round.jobs.filter(isLarge) : []
  const taken = round.jobs.filter((job) => !large.includes(job))
  const derived = new Map<string, Derived<Source, Result>>()
  const failed = new Map<string, AttemptEnd>()
  for (const { id, data: job } of taken) {
    const source = sources.get(job.document_id)
    if (source === undefined) continue
    try {
      derived.set(id, { job, source, result: await computeOne(context, { source, job }) })
    } catch (error) {
      failed.set(id, { error })
    }
    // A large batch must not keep the other work of this process waiting.
    await nextTurn()
  }
  for (const { data } of taken) await hooks.beforeCommit?.(data)
  const jobs = taken.filter(({ id }) => !failed.has(id))
  if (jobs.length === 0) return { ends: failed, large }
  const committed = await inTransaction(runtime.database, (tx) =>
    commit(tx, { context, round: { ...round, jobs, alone: round.jobs.length === 1 }, derived }),
  )
  return { ends: new Map([...failed, ...Array.from(committed, ([id, outcome]) => [id, { outcome }] as const)]), large }
}

// Among what else is computed, documents of different workspaces take turns.
function computeOne<Source extends ProjectionSource, Result>(
  { projection, runtime }: Deriving<Source, Result>,
  input: ProjectionInput<Source>,
): Promise<Result> {
  const computation = limited(projection.compute, runtime.config.WORKER_COMPUTE_MS)
  const { workspace_id: workspaceId, document_id: userId } = input.job
  return onBehalfOf({ workspaceId, userId }, () => compute(computation, input))
}

async function commit<Source extends ProjectionSource, Result>(
  tx: Transaction,
  input: {
    context: Deriving<Source, Result>
    round: Round & { alone: boolean }
    derived: ReadonlyMap<string, Derived<Source, Result>>
  },
): Promise<ReadonlyMap<string, JobOutcome>> {
  const { context, round, derived } = input
  const { projection, runtime } = context
  const keys = round.jobs.map(({ data }) => data)
  const { alone } = round
  const sources = await lockSources(tx, keys, { wait: alone })
  const seqs = await projection.projectedSeqs(
    tx,
    keys.filter(({ document_id }) => sources.has(document_id)),
  )
  const ends = round.jobs.flatMap((job) => {
    const current = sources.get(job.data.document_id)
    const projected = seqs.get(job.data.document_id) ?? null
    const outcome = judge({ projection, derived: derived.get(job.id), current, projected, ...round })
    return outcome === 'moved' ? [] : [{ job, outcome }]
  })
  const completed = await completeAttempts(tx, { runtime, queue: projection.queue, ends })
  const held = ends.filter(({ job }) => completed.has(job.id))
  const ofOutcome = (...outcomes: JobOutcome[]) => held.filter(({ outcome }) => outcomes.includes(outcome))
  const written = ofOutcome('current', 'behind').flatMap(({ job }) => derived.get(job.id) ?? [])
  if (written.length > 0) await projection.write(tx, written)
  await markCurrent(tx, { projection: projection.name, jobs: ofOutcome('current').map(({ job }) => job.data) })
  return new Map(ends.map(({ job, outcome }) => [job.id, completed.has(job.id) ? outcome : 'fenced']))
}

function judge<Source extends ProjectionSource, Result>(input: {
  projection: Projection<Source, Result>
  derived: Derived<Source, Result> | undefined
  current: DocumentSource | undefined
  projected: number | null
  alone: boolean
  last: boolean
}): JobOutcome | 'moved' {
  const { projection, derived, current, projected } = input
  // Beside others it may only be locked.
  if (current === undefined) return input.alone ? 'gone' : 'moved'
  // Its first body was still being committed at the load.
  if (derived === undefined) return 'moved'
  const same = projection.sameSource(derived.source, current)
  if (projected !== derived.source.projected_seq || (!same && !input.last)) return 'moved'
  if (!same && projected !== null && derived.source.body_seq <= projected) return 'obsolete'
  return same ? 'current' : 'behind'
}
