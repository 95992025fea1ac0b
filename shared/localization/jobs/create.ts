import type { Caller } from '../../auth/caller.ts'
import { codePoints } from '../../body/normalise-state.ts'
import type { Config } from '../../config/config.ts'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { Refusal } from '../../errors/errors.ts'
import { type Jobs, queues } from '../../jobs/queues.ts'
import { enqueueUserJob } from '../../jobs/requested/enqueue.ts'
import { canonicalOrNull } from '../../locales/locale.ts'
import { configuredModel } from '../../models/model.ts'
import { enforceTranslationQuota } from '../../quotas/translation.ts'
import { newId } from '../../schema/ids.ts'
import { type Actor, recordAudit } from '../audit.ts'
import { inlineMarkdown } from '../inline/markdown.ts'
import { findWritable, type SetMembers, sourceOf } from '../members.ts'
import { bodiesOf, holdPair, type Pair, requireSource, translationNamed } from '../pair.ts'
import { type PlacedUnit, placeUnits } from '../units/present.ts'
import { unitsOfTarget } from '../units/queries.ts'
import { insertJob, type JobRow } from './queries.ts'
import type { JobInput } from './schema.ts'
import { type Selection, selectUnits } from './select.ts'

type Context = { tx: Transaction; jobs: Jobs; config: Config }

/**
 * Asks for machine candidates of the units of a translation (decisions 4.13): the job is inserted, its characters are
 * reserved and it is enqueued in one transaction. 404, 403, 409 `localization_not_active`, `source_document_missing`, 503
 * `model_unavailable`, 422 `invalid_locale`, `nothing_to_translate`, 429 `translation_quota_exceeded`, in this order.
 */
export async function createJob(
  context: Context,
  input: { caller: Caller; actor: Actor; documentId: string; request: JobInput },
): Promise<JobRow> {
  const { tx, config } = context
  const { request, actor } = input
  const { found, named } = await findWritable(tx, input, (members) => findTarget(tx, members, input))
  const source = requireSource(found)
  const model = configuredModel(config, 'TRANSLATION_MODEL')
  if (model === null) throw new Refusal('model_unavailable')
  const target = named ?? refuseLocale(request)
  // The units that are captured belong to the version that is captured, and no body is dropped while it is read.
  const pair = await holdPair(tx, { caller: input.caller, pair: { set: found.set, source, target } })
  const workspaceId = target.workspace_id
  const placed = placeUnits(await unitsOfTarget(tx, { workspaceId, targetId: target.id }), await bodiesOf(tx, pair))
  const placedIds = placed.map(({ unit }) => unit.id)
  requireUnits(placedIds, request.unit_ids)
  const selection = selectUnits(placed, request.unit_ids)
  if (selection.eligible.length === 0) throw new Refusal('nothing_to_translate')
  const characters = sourceCharacters(selection.eligible)
  await enforceTranslationQuota(context, { workspaceId, characters })
  const job = await insertJob(tx, {
    ...membersOf(pair),
    ...unitMembers(selection),
    model,
    actor,
    reserved_characters: characters,
  })
  await recordCreated(tx, job)
  await enqueueUserJob(context, { queue: queues.translationsRun, key: { workspace_id: workspaceId, job_id: job.id } })
  return job
}

type Named = { documentId: string; request: JobInput }

/** The translation that is meant, with the units that are named; null for a `target_locale` that is none. */
async function findTarget(tx: Transaction, found: SetMembers, named: Named): Promise<DocumentRow | null> {
  const { unit_ids } = named.request
  const target = targetOf(found, named)
  // Units go with their source, so its absence says more than theirs.
  if (target === null || unit_ids === undefined || sourceOf(found) === null) return target
  const units = await unitsOfTarget(tx, { workspaceId: target.workspace_id, targetId: target.id })
  const knownIds = units.map(({ id }) => id)
  requireUnits(knownIds, unit_ids)
  return target
}

/** The translation in the locale, or without one the document itself. */
function targetOf(found: SetMembers, { documentId, request }: Named): DocumentRow | null {
  if (request.target_locale !== undefined) {
    const locale = canonicalOrNull(request.target_locale)
    return locale === null ? null : translationNamed(found, { locale, localeField: 'target_locale' })
  }
  const member = found.members.find(({ id }) => id === documentId)
  if (member?.variant_role === 'translation') return member
  const message = 'is required unless the document is a translation'
  throw new Refusal('invalid_request', { details: { fields: [{ path: '/target_locale', message }] } })
}

function refuseLocale({ target_locale: locale = '' }: JobInput): never {
  throw new Refusal('invalid_locale', { status: 422, details: { locale, field: 'target_locale' } })
}

function requireUnits(knownIds: readonly string[], unitIds: readonly string[] | undefined): void {
  const known = new Set(knownIds)
  const unknown = unitIds?.find((id) => !known.has(id))
  if (unknown !== undefined) throw new Refusal('unit_not_found', { details: { id: unknown, field: 'unit_ids' } })
}

function sourceCharacters(units: readonly PlacedUnit[]): number {
  const texts = inlineMarkdown(units.map(({ source }) => source.block.content))
  return texts.reduce((sum, text) => sum + codePoints(text), 0)
}

function membersOf({ set, source, target }: Pair) {
  return {
    workspace_id: target.workspace_id,
    id: newId('tjob'),
    document_set_id: set.id,
    source_document_id: source.id,
    target_document_id: target.id,
    source_locale: set.source_locale,
    target_locale: target.locale ?? '',
    source_version: source.version,
    target_version: target.version,
  }
}

function unitMembers({ eligible, skipped, remaining }: Selection) {
  const units = [...eligible, ...skipped]
    .sort((a, b) => a.position - b.position)
    .map((placed) => ({
      unit_id: placed.unit.id,
      source_block_id: placed.source.id,
      source_hash: placed.unit.source_hash,
      skipped: skipped.includes(placed) ? placed.unit.status : null,
    }))
  return { units, remaining_unit_count: remaining }
}

async function recordCreated(tx: Transaction, job: JobRow): Promise<void> {
  await recordAudit(tx, {
    workspaceId: job.workspace_id,
    actor: job.actor,
    entries: [
      {
        action: 'job.created',
        document_set_id: job.document_set_id,
        source_document_id: job.source_document_id,
        target_document_id: job.target_document_id,
        locale: job.target_locale,
        job_id: job.id,
        details: { unit_count: job.units.length, model: job.model },
      },
    ],
  })
}
