import type { Caller } from '../../auth/caller.ts'
import type { Ahead } from '../../computations/ahead.ts'
import type { Config } from '../../config/config.ts'
import type { Transaction } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import { queues } from '../../jobs/queues.ts'
import type { Jobs } from '../../jobs/send.ts'
import { enqueueRequestedJob } from '../../jobs/send.ts'
import { configuredModel, modelUnavailable } from '../../models/model.ts'
import { enforceTranslationQuota } from '../../quotas/translation.ts'
import { newId } from '../../schema/ids.ts'
import type { Actor } from '../audit.ts'
import { findWritable } from '../members.ts'
import { lockPair, type Pair, requireSource } from '../pair.ts'
import { insertJob, type JobRow, recordJobAction } from './queries.ts'
import type { JobInput } from './schema.ts'
import { findTarget, selectUnits } from './select.ts'

/**
 * Requests translations of units by a model. One transaction inserts the job, reserves its characters and enqueues it.
 * Refuses in this order: 404 `document_not_found`, `translation_not_found` or `unit_not_found`; 403 for a viewer; 409
 * `localization_not_active` or `source_document_missing`; 503 `model_unavailable`; 422 `invalid_locale` or
 * `nothing_to_translate`; 429 `translation_quota_exceeded`.
 */
export async function createJob(
  context: { tx: Transaction; ahead: Ahead; jobs: Jobs; config: Config },
  input: { caller: Caller; actor: Actor; documentId: string; request: JobInput },
): Promise<JobRow> {
  const { tx, config } = context
  const { found, named } = await findWritable(tx, input, (members) => findTarget(tx, members, input))
  const source = requireSource(found)
  const model = configuredModel(config, 'TRANSLATION_MODEL')
  if (model === null) throw modelUnavailable('TRANSLATION_MODEL')
  const target = named ?? refuseLocale(input.request)
  // `lockPair` keeps both bodies from changing until the commit. So the selected units fit the body versions that the
  // job names.
  const pair = await lockPair(tx, { caller: input.caller, pair: { set: found.set, source, target } })
  const { units, remaining, characters } = await selectUnits(context, { pair, unitIds: input.request.unit_ids })
  const workspaceId = target.workspace_id
  await enforceTranslationQuota(context, { workspaceId, characters })
  const job = await insertJob(tx, {
    ...membersOf(pair),
    units,
    remaining_unit_count: remaining,
    model,
    actor: input.actor,
    reserved_characters: characters,
  })
  await recordJobAction(tx, job, { action: 'job.created', details: { unit_count: job.units.length, model } })
  await enqueueRequestedJob(context, {
    queue: queues.translationsRun,
    key: { workspace_id: workspaceId, job_id: job.id },
  })
  return job
}

function refuseLocale({ target_locale: locale = '' }: JobInput): never {
  throw new Refusal('invalid_locale', { status: 422, details: { locale, field: 'target_locale' } })
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
