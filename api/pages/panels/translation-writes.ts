import { requireDocument } from '../../../shared/documents/require.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { canonicalLocale } from '../../../shared/locales/locale.ts'
import { type Actor, actorOf } from '../../../shared/localization/audit.ts'
import { applyJob } from '../../../shared/localization/jobs/apply.ts'
import { createJob } from '../../../shared/localization/jobs/create.ts'
import { findJob } from '../../../shared/localization/jobs/read.ts'
import { findSet } from '../../../shared/localization/members.ts'
import type { CreateMode, LocalizedDocument } from '../../../shared/localization/schema.ts'
import { activateLocalization } from '../../../shared/localization/sets.ts'
import { addTranslation, updateTranslation } from '../../../shared/localization/translations.ts'
import { prepareTranslation } from '../../../shared/localization/units/prepare.ts'
import { reviewUnit } from '../../../shared/localization/units/review.ts'
import type { WriteContext } from '../../http/write-context.ts'
import { targetGuard } from '../../routes/localization/target-guard.ts'
import { FormRefusal } from '../form-refusal.ts'
import type { Form } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { writeOnce } from '../write-once.ts'
import type { PanelCall } from './frame.ts'
import { typedLocale, typedLocales, workflowWords } from './translation-words.ts'

// The most languages that one form names, as in the API.
const mostTargets = 50

/** Does what a form asks for. Returns the query of the page to go to. */
type Write = (call: PanelCall, submitted: Form) => Promise<Record<string, string>>

/** What the forms of the panel of translations can ask for, by the value of their field `operation`. */
export const translationWrites: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['activate', activate],
  ['add', add],
  ['workflow', workflow],
  ['prepare', prepare],
  ['translate', translate],
  ['apply', apply],
  ['confirm', (call, submitted) => review(call, { submitted, status: 'current' })],
  ['ignore', (call, submitted) => review(call, { submitted, status: 'ignored' })],
])

/** The sentences that tell what was done, by the action. */
export const doneWords = new Map<string, string>([
  ['activate', 'The document has a language now, and its translations were added.'],
  ['add', 'The translation was added.'],
  ['workflow', 'The state was changed.'],
  ['prepare', 'Texts without a block were matched with blocks of the translation, in their order.'],
  ['translate', 'The model was asked. Its texts appear below, and nothing is written until you apply them.'],
  ['apply', 'The texts of the model were written into the translation.'],
  ['confirm', 'The text was confirmed.'],
  ['ignore', 'The text was taken out of the work.'],
])

async function activate(call: PanelCall, submitted: Form) {
  const targets = typedLocales(submitted.field('targets'))
  if (targets.length > mostTargets) throw incomplete()
  const documentId = call.document.id
  const activation = {
    source_locale: typedLocale(submitted.field('locale')),
    target_locales: targets,
    create_mode: modeOf(submitted),
  }
  await writeOnce(call, { form: submitted }, async (context) => {
    const { tx, caller } = context
    const request = { caller, actor: personOf(context), documentId, activation }
    const { setId } = await activateLocalization(context, request)
    const { members } = await findSet(tx, { caller, id: setId })
    await recordPageWrite(tx, { call, action: 'activateTranslation', documentIds: members.map(({ id }) => id) })
    return setId
  })
  return {}
}

async function add(call: PanelCall, submitted: Form) {
  const locale = canonicalLocale(typedLocale(submitted.field('locale')), { status: 422, field: 'locale' })
  await writeOnce(call, { form: submitted }, async (context) => {
    const { tx, caller } = context
    const documentId = call.document.id
    const mode = modeOf(submitted)
    const added = await addTranslation(context, { caller, actor: personOf(context), documentId, locale, mode })
    await recordPageWrite(tx, { call, action: 'addTranslation', documentIds: [added.id, documentId] })
    return added.id
  })
  return { translation: locale }
}

async function workflow(call: PanelCall, submitted: Form) {
  const name = { documentId: submitted.field('target') }
  const states = Object.keys(workflowWords) as LocalizedDocument['workflow_status'][]
  const workflow_status = states.find((state) => state === submitted.field('workflow'))
  if (workflow_status === undefined) throw incomplete()
  await pageWrite(call, async (context) => {
    const { tx, caller } = context
    const documentId = call.document.id
    const guard = ({ workflow_status: now }: { workflow_status: string | null }) => {
      if (now !== workflow_status && now !== submitted.field('was')) throw otherState()
    }
    const request = { caller, actor: personOf(context), documentId, name, update: { workflow_status }, guard }
    const updated = await updateTranslation(context, request)
    await recordPageWrite(tx, { call, action: 'updateTranslation', documentIds: [updated.id, documentId] })
  })
  return shownAgain(submitted)
}

async function prepare(call: PanelCall, submitted: Form) {
  await pageWrite(call, async (context) => {
    const { tx, caller } = context
    const documentId = call.document.id
    const request = { caller, actor: personOf(context), documentId, targetId: submitted.field('target') }
    const { target } = await prepareTranslation(context, { ...request, align: 'by_position' })
    await recordPageWrite(tx, { call, action: 'prepareTranslation', documentIds: [target.id, documentId] })
  })
  return shownAgain(submitted)
}

async function translate(call: PanelCall, submitted: Form) {
  const target_locale = submitted.field('translation')
  const id = await writeOnce(call, { form: submitted }, async (context) => {
    const { tx, caller } = context
    const documentId = call.document.id
    const job = await createJob(context, { caller, actor: personOf(context), documentId, request: { target_locale } })
    await recordPageWrite(tx, { call, action: 'createTranslationJob', documentIds: [documentId] })
    return job.id
  })
  return { ...shownAgain(submitted), job: id }
}

// Applies a job whose translation is in the same set as the document of the page.
async function apply(call: PanelCall, submitted: Form) {
  const jobId = submitted.field('job')
  await pageWrite(call, async (context) => {
    const { tx, caller, config } = context
    const { target_document_id: targetId } = await findJob(tx, { caller, id: jobId, config })
    const { document_set_id: setId } = await requireDocument(tx, { caller, documentId: targetId })
    if (setId === null || setId !== call.document.document_set_id) {
      throw new Refusal('job_not_found', { details: { id: jobId } })
    }
    const guard = guardOf(context, submitted)
    const { applied } = await applyJob(context, { caller, actor: personOf(context), jobId, unitIds: undefined, guard })
    await recordPageWrite(tx, { call, action: 'applyTranslationJob', documentIds: [applied.document_id] })
  })
  return { ...shownAgain(submitted), job: jobId }
}

async function review(
  call: PanelCall,
  { submitted, status }: { submitted: Form; status: 'current' | 'ignored' },
): Promise<Record<string, string>> {
  await pageWrite(call, async (context) => {
    const { tx, caller } = context
    const documentId = call.document.id
    const { target } = await reviewUnit(context, {
      caller,
      actor: personOf(context),
      documentId,
      unitId: submitted.field('unit'),
      review: { target_document_id: submitted.field('target'), review_status: status },
      guard: guardOf(context, submitted),
    })
    await recordPageWrite(tx, { call, action: 'reviewTranslationUnit', documentIds: [target.id, documentId] })
  })
  return shownAgain(submitted)
}

// The same translation with the same choice of texts.
function shownAgain(submitted: Form): Record<string, string> {
  const kept = ['translation', 'status', 'units'].map((name) => [name, submitted.field(name)] as const)
  return Object.fromEntries(kept.filter(([, value]) => value !== ''))
}

// The version of the translation is the version that the person has seen.
function guardOf({ tx, ahead }: WriteContext, submitted: Form) {
  return targetGuard({ tx, ahead, guard: { required: true, tags: [submitted.field('version')] } })
}

// A person has no token.
function personOf({ caller, client }: WriteContext): Actor {
  return { ...actorOf(caller, client), token_id: null }
}

function modeOf(submitted: Form): CreateMode {
  return submitted.field('mode') === 'blank' ? 'blank' : 'copy_structure'
}

function otherState(): FormRefusal {
  return new FormRefusal(
    'version_conflict',
    'Somebody has changed the state since you loaded this page. Nothing was changed. Below is how it is now.',
  )
}

function incomplete(): Refusal {
  return new Refusal('invalid_request', { details: { fields: [] } })
}
