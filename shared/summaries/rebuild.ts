import type { Caller } from '../auth/caller.ts'
import type { Config } from '../config/config.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { queues } from '../jobs/queues.ts'
import type { Jobs } from '../jobs/send.ts'
import { enqueueRequestedJob } from '../jobs/send.ts'
import { configuredModel } from '../models/model.ts'
import type { VersionGuard } from '../requests/version-guard.ts'
import { newId } from '../schema/ids.ts'
import { requireHeading, type TargetRequest } from './find.ts'
import { insertJob, openJob, type SummaryJobRow } from './job-queries.ts'
import { summaryTag } from './present.ts'
import { lockSummary, type StoredSummary } from './queries.ts'
import type { TaggedSummary } from './read.ts'
import { holdTarget, requireSourceVersion, store } from './save.ts'
import type { SummaryRebuildInput } from './schema.ts'
import { derive, type Source } from './source.ts'
import type { Target } from './target.ts'

type Rebuild = {
  caller: Caller
  request: TargetRequest
  asked: SummaryRebuildInput
  guard: VersionGuard
}

/**
 * Makes the deterministic summary anew and stores it. 428 over one that somebody wrote without If-Match; 409
 * `summary_pinned`, `source_version_changed` or `version_conflict`, in this order; 422 `not_a_heading_block`.
 */
export async function rebuildDeterministic(
  tx: Transaction,
  rebuild: Rebuild,
): Promise<TaggedSummary & { workspaceId: string }> {
  const held = await holdRebuild(tx, rebuild)
  const { target, over } = held
  const source = requireHeading(held.source)
  const summary = {
    ...(await derive(tx, { target, source })),
    generator: 'deterministic' as const,
    pinned: false,
    source_version: source.version,
    model: null,
    updatedBy: rebuild.caller.userId,
  }
  const stored = await store(tx, { target, summary, over, currentVersion: source.version })
  return { ...stored, workspaceId: target.workspaceId }
}

/**
 * Has a model make the summary: returns the job, the open one where there is one for the same source. Refusals as above,
 * and 503 `model_unavailable` before the 422.
 */
export async function rebuildByModel(
  context: { tx: Transaction; jobs: Jobs; config: Config },
  rebuild: Rebuild,
): Promise<SummaryJobRow> {
  const { tx, config } = context
  const held = await holdRebuild(tx, rebuild)
  const model = configuredModel(config, 'SUMMARY_MODEL')
  if (model === null) throw new Refusal('model_unavailable')
  const { version: sourceVersion } = requireHeading(held.source)
  const open = await openJob(tx, { target: held.target, sourceVersion })
  if (open !== null) return open
  const job = await insertJob(tx, {
    id: newId('sjob'),
    target: held.target,
    sourceVersion,
    baseVersion: held.over?.version ?? 0,
    model,
    requestedBy: rebuild.caller.userId,
  })
  await enqueueRequestedJob(context, {
    queue: queues.summariesModel,
    key: { workspace_id: job.workspace_id, job_id: job.id },
  })
  return job
}

type HeldRebuild = { target: Target; source: Source | 'not_a_heading'; over: StoredSummary | null }

// Whoever asks for a rebuild of the same target waits here, so no two of them insert a job.
async function holdRebuild(tx: Transaction, rebuild: Rebuild): Promise<HeldRebuild> {
  const { asked, guard } = rebuild
  const { target, source } = await holdTarget(tx, rebuild)
  const over = await lockSummary(tx, target)
  if (over?.generator === 'manual') guard.require()
  if (over?.pinned) throw new Refusal('summary_pinned', { details: { summary_version: over.version } })
  requireSourceVersion(source, asked.base_source_version)
  guard.check(summaryTag(over))
  return { target, source, over }
}
