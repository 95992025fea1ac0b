import { type Caller, requireWriter } from '../../auth/caller.ts'
import { commitBody } from '../../body/commit.ts'
import type { CommitContext } from '../../body/consequence.ts'
import type { StoredBody } from '../../body/stored-body.ts'
import type { Config } from '../../config/config.ts'
import type { Transaction } from '../../database/database.ts'
import { requireDocument } from '../../documents/require.ts'
import { Refusal } from '../../errors/errors.ts'
import type { Actor } from '../audit.ts'
import { findSetOf, sourceOf } from '../members.ts'
import { bodiesOf, lockPair, type Pair } from '../pair.ts'
import type { UnitStatus } from '../schema.ts'
import * as units from '../units/queries.ts'
import type { TargetGuard } from '../units/review.ts'
import { applying } from './apply-edit.ts'
import { type JobRow, lockTranslationJob, markApplied, recordJobAction } from './queries.ts'
import { findJob } from './read.ts'
import type { Applied } from './schema.ts'
import { planApplication, requireKnownUnits } from './select.ts'

type ApplyContext = CommitContext & { config: Pick<Config, 'JOB_RETENTION_DAYS'> }

type ApplyRequest = {
  caller: Caller
  actor: Actor
  jobId: string
  unitIds: readonly string[] | undefined
  guard: TargetGuard
}

/**
 * Writes the translated texts of a job into the translation, as one change with one snapshot. Skips units that a person
 * edited, confirmed or ignored meanwhile, and units that were applied already, so a second application of the job
 * changes nothing. Refuses with 404 `job_not_found`, `document_not_found` or `unit_not_found`, then with 403 for a
 * viewer and 428 without a precondition. Then refuses with 409 `job_not_succeeded`, `translation_source_changed` or
 * `version_conflict`, and last with 422 for a body over its limits.
 */
export async function applyJob(
  context: ApplyContext,
  request: ApplyRequest,
): Promise<{ applied: Applied; workspaceId: string }> {
  const { tx, config } = context
  const { caller } = request
  const job = await findJob(tx, { caller, id: request.jobId, config })
  const target = await requireDocument(tx, { caller, documentId: job.target_document_id })
  const unitIds = job.units.map(({ unit_id }) => unit_id)
  requireKnownUnits(unitIds, request.unitIds)
  requireWriter(caller, job.workspace_id)
  request.guard.require()
  requireSucceeded(job)
  const members = await findSetOf(tx, { caller, documentId: target.id })
  const source = sourceOf(members)
  if (source === null) throw sourceChanged(job, null)
  const pair = await lockPair(tx, { caller, pair: { set: members.set, source, target } })
  const written = await write(context, { request, pair, unitIds })
  return { applied: { job_id: job.id, ...written }, workspaceId: job.workspace_id }
}

async function write(
  context: ApplyContext,
  input: { request: ApplyRequest; pair: Pair; unitIds: readonly string[] },
): Promise<Omit<Applied, 'job_id'>> {
  const { tx, ahead } = context
  const { request, pair, unitIds } = input
  const key = { workspaceId: pair.target.workspace_id, targetId: pair.target.id }
  const bodies = await bodiesOf(tx, pair)
  const { document, edited } = await commitBody(context, {
    documentId: pair.target.id,
    caller: request.caller,
    find: () => lockUnitsAndJob(tx, { key, jobId: request.jobId, unitIds }),
    async guard(current: StoredBody, locked, { job }) {
      requireSucceeded(job)
      if (job.source_version !== pair.source.version) throw sourceChanged(job, pair.source.version)
      await request.guard.check(current, locked)
    },
    async edit(_current, { job, statuses, places }) {
      const plan = planApplication(job, { statuses, unitIds: request.unitIds })
      const texts = { source: bodies.source.text, target: bodies.target.text, units: places }
      return { ...(await ahead.result(applying, { ...texts, contents: plan.contents })), plan, job }
    },
  })
  const { mappings, plan, job } = edited
  await recordTexts(tx, { ...key, mappings })
  await units.setTranslatedFrom(tx, { ...key, version: pair.source.version })
  const appliedIds = mappings.map(({ unit_id }) => unit_id)
  await markApplied(tx, { workspace_id: key.workspaceId, job_id: job.id }, appliedIds)
  const details = { applied: plan.contents.length, skipped: plan.skipped.length }
  await recordJobAction(tx, job, { action: 'job.applied', actor: request.actor, details })
  return {
    document_id: document.id,
    version: document.version,
    applied: mappings.map(({ unit_id, block_id }) => ({ unit_id, target_block_ids: [block_id] })),
    skipped: plan.skipped,
  }
}

// Locks the units of the job, then the row of the job. `lockPair` and `commitBody` have locked both documents before,
// because `shared/localization/README.md` requires this order.
async function lockUnitsAndJob(
  tx: Transaction,
  input: { key: units.TargetKey; jobId: string; unitIds: readonly string[] },
): Promise<{ job: JobRow; statuses: ReadonlyMap<string, UnitStatus>; places: string }> {
  const { key } = input
  await units.lockUnits(tx, { ...key, unitIds: input.unitIds })
  const job = await lockTranslationJob(tx, { workspace_id: key.workspaceId, job_id: input.jobId })
  if (job === null) throw new Refusal('job_not_found', { details: { id: input.jobId } })
  const statuses = await units.statusesOfUnits(tx, { ...key, unitIds: input.unitIds })
  return { job, statuses, places: await units.unitPlacesOfTarget(tx, key) }
}

// Maps the written units to their blocks and records that a machine wrote them.
async function recordTexts(
  tx: Transaction,
  input: units.TargetKey & { mappings: readonly units.Mapping[] },
): Promise<void> {
  const { workspaceId, targetId, mappings } = input
  if (mappings.length === 0) return
  const unitIds = mappings.map(({ unit_id }) => unit_id)
  await units.mapUnits(tx, { workspaceId, targetId, unitIds, mappings: JSON.stringify(mappings) })
  await units.recordMachineTexts(tx, { workspaceId, unitIds })
}

function requireSucceeded({ status }: JobRow): void {
  if (status === 'succeeded') return
  throw new Refusal('job_not_succeeded', { details: { status: status === 'running' ? 'pending' : status } })
}

function sourceChanged(job: JobRow, version: string | null): Refusal {
  const details = { provided: job.source_version, current_version: version }
  return new Refusal('translation_source_changed', { details })
}
