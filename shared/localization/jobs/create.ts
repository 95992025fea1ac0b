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
import type { Actor } from '../audit.ts'
import { inlineMarkdown } from '../inline/markdown.ts'
import { findWritable, type SetMembers, sourceOf } from '../members.ts'
import { bodiesOf, lockPair, type Pair, requireSource, translationNamed } from '../pair.ts'
import { type PlacedUnit, placeUnits } from '../units/present.ts'
import { unitsOfTarget } from '../units/queries.ts'
import { insertJob, type JobRow, recordJobAction } from './queries.ts'
import type { JobInput } from './schema.ts'
import { jobUnits, requireKnownUnits, type Selection, selectUnits } from './select.ts'

type JobRequest = { caller: Caller; actor: Actor; documentId: string; request: JobInput }

/**
 * Requests machine candidates for units of a translation. One transaction inserts the job, reserves its characters and
 * enqueues it. Refuses in this order: 404 `document_not_found`, `translation_not_found` or `unit_not_found`; 403 for a
 * viewer; 409 `localization_not_active` or `source_document_missing`; 503 `model_unavailable`; 422 `invalid_locale` or
 * `nothing_to_translate`; 429 `translation_quota_exceeded`.
 */
export async function createJob(
  context: { tx: Transaction; jobs: Jobs; config: Config },
  input: JobRequest,
): Promise<JobRow> {
  const { tx, config } = context
  const { found, named } = await findWritable(tx, input, (members) => findTarget(tx, members, input))
  const source = requireSource(found)
  const model = configuredModel(config, 'TRANSLATION_MODEL')
  if (model === null) throw new Refusal('model_unavailable')
  const target = named ?? refuseLocale(input.request)
  // Under the lock, the units and the bodies belong to the versions that the job names.
  const pair = await lockPair(tx, { caller: input.caller, pair: { set: found.set, source, target } })
  const selection = await selectFrom(tx, pair, input.request.unit_ids)
  const workspaceId = target.workspace_id
  const characters = sourceCharacters(selection.eligible)
  await enforceTranslationQuota(context, { workspaceId, characters })
  const job = await insertJob(tx, {
    ...membersOf(pair),
    units: jobUnits(selection),
    remaining_unit_count: selection.remaining,
    model,
    actor: input.actor,
    reserved_characters: characters,
  })
  await recordJobAction(tx, job, { action: 'job.created', details: { unit_count: job.units.length, model } })
  await enqueueUserJob(context, { queue: queues.translationsRun, key: { workspace_id: workspaceId, job_id: job.id } })
  return job
}

// Finds the translation and the units that the request names. Returns null when `target_locale` is malformed, because
// the 422 of a malformed locale comes after other checks.
async function findTarget(tx: Transaction, found: SetMembers, named: JobRequest): Promise<DocumentRow | null> {
  const { unit_ids } = named.request
  const target = targetOf(found, named)
  // The units of a deleted source are deleted, too. The caller then learns that the source is missing, not the unit.
  if (target === null || unit_ids === undefined || sourceOf(found) === null) return target
  const units = await unitsOfTarget(tx, { workspaceId: target.workspace_id, targetId: target.id })
  const knownIds = units.map(({ id }) => id)
  requireKnownUnits(knownIds, unit_ids)
  return target
}

// Returns the translation in the target locale, or without a locale the document of the request itself.
function targetOf(found: SetMembers, { documentId, request }: JobRequest): DocumentRow | null {
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

async function selectFrom(tx: Transaction, pair: Pair, unitIds: readonly string[] | undefined): Promise<Selection> {
  const key = { workspaceId: pair.target.workspace_id, targetId: pair.target.id }
  const placed = placeUnits(await unitsOfTarget(tx, key), await bodiesOf(tx, pair))
  const placedIds = placed.map(({ unit }) => unit.id)
  requireKnownUnits(placedIds, unitIds)
  const selection = selectUnits(placed, unitIds)
  if (selection.eligible.length === 0) throw new Refusal('nothing_to_translate')
  return selection
}

// Counts the code points of the texts that the model gets.
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
