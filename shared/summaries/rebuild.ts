import type { Caller } from '../auth/caller.ts'
import type { Config } from '../config/config.ts'
import { Refusal } from '../errors/errors.ts'
import { queues } from '../jobs/queues.ts'
import type { Jobs } from '../jobs/send.ts'
import { enqueueRequestedJob } from '../jobs/send.ts'
import { configuredModel, modelUnavailable } from '../models/model.ts'
import type { VersionGuard } from '../requests/version-guard.ts'
import { newId } from '../schema/ids.ts'
import { digesting, type MakeDigests } from './digests.ts'
import { insertSummaryJob, openSummaryJob, type SummaryJobRow } from './job-queries.ts'
import { summaryTag } from './present.ts'
import { lockSummary, type StoredSummary } from './queries.ts'
import type { TaggedSummary } from './read.ts'
import { lockTarget, replaceSummary, requireSourceVersion, type Writing } from './save.ts'
import type { SummaryRebuildInput } from './schema.ts'
import { derive, requireHeading, type SummarySource } from './source.ts'
import type { SummaryTarget, TargetRequest } from './target.ts'

type Rebuild = {
  caller: Caller
  request: TargetRequest
  asked: SummaryRebuildInput
  guard: VersionGuard
}

/**
 * Makes the deterministic summary of a target and stores it. Refuses with 428 without If-Match over a summary that a
 * person wrote. Refuses with 409 `summary_pinned`, `source_version_changed` or `version_conflict`, in this order, and
 * with 422 `not_a_heading_block`.
 */
export async function rebuildDeterministic(
  context: Writing,
  rebuild: Rebuild,
): Promise<TaggedSummary & { workspaceId: string }> {
  const { tx, ahead } = context
  const locked = await lockRebuild(context, rebuild)
  const { target, over } = locked
  const source = requireHeading(locked.source)
  const makeDigests: MakeDigests = (bodies) => ahead.result(digesting, bodies)
  const summary = {
    ...(await derive(tx, { target, source, computeText: ahead.result, makeDigests })),
    generator: 'deterministic' as const,
    pinned: false,
    source_version: source.version,
    model: null,
    updatedBy: rebuild.caller.userId,
  }
  const stored = await replaceSummary(tx, { target, summary, over, currentVersion: source.version })
  return { ...stored, workspaceId: target.workspaceId }
}

/**
 * Has a model summarise the target. Returns the open job for the same source, or a new job. Refuses with 428 without
 * If-Match over a summary that a person wrote. Refuses with 409 `summary_pinned`, `source_version_changed` or
 * `version_conflict`, in this order. Then refuses with 503 `model_unavailable`, and last with 422
 * `not_a_heading_block`.
 */
export async function rebuildByModel(
  context: Writing & { jobs: Jobs; config: Config },
  rebuild: Rebuild,
): Promise<SummaryJobRow> {
  const { tx, config } = context
  const locked = await lockRebuild(context, rebuild)
  const model = configuredModel(config, 'SUMMARY_MODEL')
  if (model === null) throw modelUnavailable('SUMMARY_MODEL')
  const { version: sourceVersion } = requireHeading(locked.source)
  const open = await openSummaryJob(tx, { target: locked.target, sourceVersion })
  if (open !== null) return open
  const job = await insertSummaryJob(tx, {
    id: newId('sjob'),
    target: locked.target,
    sourceVersion,
    baseVersion: locked.over?.version ?? 0,
    model,
    requestedBy: rebuild.caller.userId,
  })
  await enqueueRequestedJob(context, {
    queue: queues.summariesModel,
    key: { workspace_id: job.workspace_id, job_id: job.id },
  })
  return job
}

type LockedRebuild = { target: SummaryTarget; source: SummarySource | 'not_a_heading'; over: StoredSummary | null }

// Locks the target of a rebuild. Other rebuilds of the target wait here, so no two of them insert a job.
async function lockRebuild(context: Writing, rebuild: Rebuild): Promise<LockedRebuild> {
  const { tx } = context
  const { asked, guard } = rebuild
  const { target, source } = await lockTarget(context, rebuild)
  const over = await lockSummary(tx, target)
  if (over?.generator === 'manual') guard.require()
  if (over?.pinned) throw new Refusal('summary_pinned', { details: { summary_version: over.version } })
  requireSourceVersion(source, asked.base_source_version)
  guard.check(summaryTag(over))
  return { target, source, over }
}
