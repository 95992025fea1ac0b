import { type Caller, requireWriter, visibleWorkspaces } from '../../auth/caller.ts'
import { type CommitContext, commitBody } from '../../body/commit.ts'
import type { BodyNode } from '../../body/document.ts'
import type { StoredBody } from '../../body/stored-body.ts'
import type { Config } from '../../config/config.ts'
import type { Transaction } from '../../database/database.ts'
import { visibleDocument } from '../../documents/queries.ts'
import { Refusal } from '../../errors/errors.ts'
import { type Actor, recordAudit } from '../audit-queries.ts'
import { findSetOf, sourceOf } from '../members.ts'
import { bodiesOf, holdPair, type Pair, type PairBodies } from '../pair.ts'
import { type PlacedUnit, placeUnits } from '../units/present.ts'
import * as units from '../units/queries.ts'
import type { TargetGuard } from '../units/review.ts'
import { blank, textBlocks } from '../units/texts.ts'
import { type AppliedTexts, applyTexts } from './apply-edit.ts'
import { findJob } from './find.ts'
import { type JobRow, lockJob, markApplied } from './queries.ts'
import type { Applied, SkipReason } from './schema.ts'
import { isReplaceable } from './select.ts'

type Context = CommitContext & { config: Pick<Config, 'JOB_RETENTION_DAYS'> }

type Request = {
  caller: Caller
  actor: Actor
  jobId: string
  unitIds: readonly string[] | undefined
  guard: TargetGuard
}

/** Which units of a job are written, and why the others are not. */
type Plan = { contents: Map<string, BodyNode[]>; skipped: Applied['skipped'] }

/**
 * Writes the candidates of a job into the target, as one change with one snapshot (decisions 4.13). What a person has
 * edited, confirmed or ignored meanwhile is skipped, and so is what was applied already, so a repetition changes
 * nothing. 404 `job_not_found`, `document_not_found`, `unit_not_found`; 403; 428; 409 `job_not_succeeded`,
 * `translation_source_changed`, `version_conflict`; 422 for a body over its limits.
 */
export async function applyJob(context: Context, request: Request): Promise<{ applied: Applied; workspaceId: string }> {
  const { tx, config } = context
  const { caller } = request
  const found = await findJob(tx, { caller, id: request.jobId, config })
  const workspaceIds = visibleWorkspaces(caller)
  const target = await visibleDocument(tx, { documentId: found.target_document_id, workspaceIds })
  if (target === null) throw new Refusal('document_not_found', { details: { id: found.target_document_id } })
  requireUnits(found, request.unitIds)
  requireWriter(caller, found.workspace_id)
  request.guard.require()
  requireSucceeded(found)
  const members = await findSetOf(tx, { caller, documentId: target.id })
  const source = sourceOf(members)
  if (source === null) throw sourceChanged(found, null)
  const pair = await holdPair(tx, { caller, pair: { set: members.set, source, target } })
  const written = await write(context, { request, pair, unitIds: found.units.map(({ unit_id }) => unit_id) })
  return { applied: { job_id: found.id, ...written }, workspaceId: found.workspace_id }
}

async function write(
  context: Context,
  input: { request: Request; pair: Pair; unitIds: readonly string[] },
): Promise<Omit<Applied, 'job_id'>> {
  const { tx } = context
  const { request, pair, unitIds } = input
  const key = { workspaceId: pair.target.workspace_id, targetId: pair.target.id }
  const bodies = await bodiesOf(tx, pair)
  const { document, edited } = await commitBody(context, {
    documentId: pair.target.id,
    caller: request.caller,
    find: () => lockAll(tx, { key, bodies, jobId: request.jobId, unitIds }),
    async guard(current: StoredBody, locked, { job }) {
      requireSucceeded(job)
      if (job.source_version !== pair.source.version) throw sourceChanged(job, pair.source.version)
      await request.guard.check(current, locked)
    },
    edit(_current, { job, placed }) {
      const plan = planOf(job, { placed, unitIds: request.unitIds })
      return { ...applyTexts(bodies, { units: placed, contents: plan.contents }), plan, job }
    },
  })
  const { plan, job } = edited
  await recordTexts(tx, { ...key, written: edited })
  await units.setTranslatedFrom(tx, { ...key, version: pair.source.version })
  await markApplied(tx, { workspace_id: key.workspaceId, job_id: job.id }, [...edited.blockIds.keys()])
  await audit(tx, { job, actor: request.actor, plan })
  return {
    document_id: document.id,
    version: document.version,
    applied: [...edited.blockIds].map(([unit_id, blockId]) => ({ unit_id, target_block_ids: [blockId] })),
    skipped: plan.skipped,
  }
}

// Documents are held by now; units come before the job, as in every transaction.
async function lockAll(
  tx: Transaction,
  input: { key: units.TargetKey; bodies: PairBodies; jobId: string; unitIds: readonly string[] },
): Promise<{ job: JobRow; placed: PlacedUnit[] }> {
  const { key } = input
  await units.lockUnits(tx, { ...key, unitIds: input.unitIds })
  const job = await lockJob(tx, { workspace_id: key.workspaceId, job_id: input.jobId })
  if (job === null) throw new Refusal('job_not_found', { details: { id: input.jobId } })
  return { job, placed: placeUnits(await units.unitsOfTarget(tx, key), input.bodies) }
}

function planOf(job: JobRow, input: { placed: readonly PlacedUnit[]; unitIds: readonly string[] | undefined }): Plan {
  const results = new Map((job.result ?? []).map((result) => [result.unit_id, result]))
  const statuses = new Map(input.placed.map(({ unit }) => [unit.id, unit.status]))
  const translated = [...results.values()].flatMap(({ unit_id, content }) => (content === null ? [] : unit_id))
  const plan: Plan = { contents: new Map(), skipped: [] }
  for (const unitId of new Set(input.unitIds ?? translated)) {
    const { applied_at = null, content = null } = results.get(unitId) ?? {}
    const status = statuses.get(unitId)
    if (applied_at !== null) plan.skipped.push({ unit_id: unitId, reason: 'already_applied' })
    else if (content === null || status === undefined) {
      plan.skipped.push({ unit_id: unitId, reason: 'not_translated' })
    } else if (!isReplaceable(status)) plan.skipped.push({ unit_id: unitId, reason: status as SkipReason })
    else plan.contents.set(unitId, content)
  }
  return plan
}

/** Maps the written units to their blocks and notes that a machine wrote them. */
async function recordTexts(tx: Transaction, input: units.TargetKey & { written: AppliedTexts }): Promise<void> {
  const { workspaceId, targetId } = input
  const { blockIds, lines } = input.written
  const unitIds = [...blockIds.keys()]
  if (unitIds.length === 0) return
  const wanted = new Set(blockIds.values())
  const texts = textBlocks(lines.map((line) => JSON.parse(line))).filter(({ id }) => wanted.has(id))
  const hashes = new Map(texts.map(({ id, hash }) => [id, hash]))
  const mappings = [...blockIds].map(([unit_id, block_id]) => {
    return { unit_id, block_id, ordinal: 0, hash: hashes.get(block_id) ?? blank }
  })
  await units.replaceMappings(tx, { workspaceId, targetId, unitIds, mappings })
  await units.refreshTargetHashes(tx, { workspaceId, unitIds, byHand: false })
  await units.recordMachineTexts(tx, { workspaceId, unitIds })
}

function requireUnits(job: JobRow, unitIds: readonly string[] = []): void {
  const known = new Set(job.units.map(({ unit_id }) => unit_id))
  const unknown = unitIds.find((id) => !known.has(id))
  if (unknown !== undefined) throw new Refusal('unit_not_found', { details: { id: unknown, field: 'unit_ids' } })
}

function requireSucceeded({ status }: JobRow): void {
  if (status === 'succeeded') return
  throw new Refusal('job_not_succeeded', { details: { status: status === 'running' ? 'pending' : status } })
}

function sourceChanged(job: JobRow, version: string | null): Refusal {
  const details = { provided: job.source_version, current_version: version }
  return new Refusal('translation_source_changed', { details })
}

async function audit(tx: Transaction, input: { job: JobRow; actor: Actor; plan: Plan }): Promise<void> {
  const { job, plan } = input
  await recordAudit(tx, {
    workspaceId: job.workspace_id,
    actor: input.actor,
    entries: [
      {
        action: 'job.applied',
        document_set_id: job.document_set_id,
        source_document_id: job.source_document_id,
        target_document_id: job.target_document_id,
        locale: job.target_locale,
        job_id: job.id,
        details: { applied: plan.contents.size, skipped: plan.skipped.length },
      },
    ],
  })
}
