import { StoredBody, textComputation } from '../../body/stored-body.ts'
import { compute } from '../../computations/compute.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { loadSource, lockSource } from '../../jobs/projections/queries.ts'
import type { RequestedJobKey } from '../../jobs/queues.ts'
import type { RequestedJobEnd } from '../../jobs/requested/queries.ts'
import type { ModelRequest } from '../../models/model.ts'
import type { AuditAction } from '../audit.ts'
import { visibleSet } from '../queries.ts'
import { unitTexts } from '../units/present.ts'
import { type JobRow, jobOf, recordJobAction, type StoredResult, writeResult } from './queries.ts'
import { type SourceText, type Translated, type Translation, translateTexts } from './translate.ts'

const actions: { [Status in JobRow['status']]?: AuditAction } = {
  succeeded: 'job.succeeded',
  failed: 'job.failed',
  obsolete: 'job.obsolete',
}

/** A job that is ready to run: its row, and the texts that it translates. */
export type JobSource = { job: JobRow; texts: SourceText[] }

/** A reason why a job is obsolete, as `obsolete_reason` stores it. */
export type ObsoleteReason = 'source_changed' | 'document_deleted'

/**
 * Reads a job and its texts without a lock, or returns the reason why the job is obsolete already. Throws
 * ComputationLimitError when the document takes too much processor time or memory.
 */
export async function loadJob(db: Queryable, key: RequestedJobKey): Promise<JobSource | { obsolete: ObsoleteReason }> {
  const job = await jobOf(db, key)
  if (job === null) return { obsolete: 'document_deleted' }
  const source = await loadSource(db, { workspace_id: job.workspace_id, document_id: job.source_document_id })
  if (source === null) return { obsolete: 'document_deleted' }
  if (source.version !== job.source_version) return { obsolete: 'source_changed' }
  const units = job.units.filter(({ skipped }) => skipped === null)
  return { job, texts: await compute(collecting, { text: source.body, units }) }
}

/**
 * Returns the texts of the given units in the stored body of a source document. Units whose text is gone are left out.
 * A thread calls this function by its name. @public
 */
export function textsOfUnits({ text, units }: { text: string; units: readonly NamedUnit[] }): SourceText[] {
  const blocks = new Map(unitTexts(new StoredBody({ version: '', text })).map(({ id, block }) => [id, block]))
  return units.flatMap(({ unit_id, source_block_id }) => {
    const content = blocks.get(source_block_id)?.content
    return content === undefined ? [] : [{ unit_id, content }]
  })
}

type NamedUnit = { unit_id: string; source_block_id: string }

const collecting = textComputation({ module: import.meta.url, run: textsOfUnits })

/**
 * Asks the model for the translations of a job. Throws a ModelError when the failure is transient; the job is then
 * tried again.
 */
export function runJob(
  { job, texts }: JobSource,
  ask: (request: ModelRequest) => Promise<string>,
): Promise<Translated> {
  const { model, source_locale, target_locale } = job
  return translateTexts(texts, { model, source_locale, target_locale, ask })
}

/**
 * Locks the source document of a job against changes. Returns the reason why the job is obsolete, or null when the job
 * is not obsolete.
 */
export async function jobMoved(tx: Transaction, { job }: JobSource): Promise<ObsoleteReason | null> {
  const source = await lockSource(tx, { workspace_id: job.workspace_id, document_id: job.source_document_id })
  if (source === null) return 'document_deleted'
  return source.version === job.source_version ? null : 'source_changed'
}

/**
 * Stores the results of a job whose row the worker has locked. The job has failed when no unit was translated and at
 * least one unit failed.
 */
export async function storeJob(
  tx: Transaction,
  input: { key: RequestedJobKey; source: JobSource; result: Translated },
): Promise<RequestedJobEnd> {
  const { translations, inputCharacters, outputCharacters } = input.result
  const byUnit = new Map(translations.map((translation) => [translation.unit_id, translation]))
  const units = input.source.job.units.map((unit): StoredResult => {
    const { unit_id, source_hash, skipped } = unit
    const common = { unit_id, source_hash, applied_at: null, target_text: null, content: null }
    if (skipped !== null) return { ...common, status: 'skipped', reason: skipped }
    return { ...common, ...outcomeOf(byUnit.get(unit_id)) }
  })
  await writeResult(tx, input.key, { units, inputCharacters, outputCharacters })
  const failure = units.find(({ status }) => status === 'failed')
  if (failure === undefined || units.some(({ status }) => status === 'translated')) return { status: 'succeeded' }
  const code = failure.reason?.startsWith('model_') ? failure.reason : 'model_bad_output'
  const told = translations.find((translation) => 'message' in translation)
  return { status: 'failed', code, message: told && 'message' in told ? told.message : undefined }
}

function outcomeOf(
  translation: Translation | undefined,
): Pick<StoredResult, 'status' | 'target_text' | 'content' | 'reason'> {
  if (translation !== undefined && 'text' in translation) {
    return { status: 'translated', target_text: translation.text, content: translation.content, reason: null }
  }
  return { status: 'failed', target_text: null, content: null, reason: translation?.failure ?? 'missing_in_answer' }
}

/** Records the end of a job in the audit, in the transaction in which the worker ends the job. */
export async function recordEnd(tx: Transaction, key: RequestedJobKey): Promise<void> {
  const job = await jobOf(tx, key)
  const action = job === null ? undefined : actions[job.status]
  if (job === null || action === undefined) return
  // The audit of a set is deleted with the set, so a job without its set is not recorded.
  const set = await visibleSet(tx, { id: job.document_set_id, workspaceIds: [job.workspace_id] })
  if (set === null) return
  const reason = job.error_code ?? job.obsolete_reason
  await recordJobAction(tx, job, { action, details: reason === null ? {} : { reason } })
}
