import { type Static, Type } from 'typebox'
import type { Document } from '../../../shared/documents/schema.ts'
import { type ErrorCode, Refusal } from '../../../shared/errors/errors.ts'
import { type Applied, TranslationJob } from '../../../shared/localization/jobs/schema.ts'
import { type DocumentSet, LocalizedDocument } from '../../../shared/localization/schema.ts'
import { Version } from '../../../shared/schema/identifiers.ts'
import { afterWrite } from '../after-write.ts'
import { needed } from '../arguments.ts'
import { shortName } from '../budget.ts'
import { type Door, ifMatch } from '../door.ts'
import { oneLine } from '../results.ts'
import { type ToolAnswer, type ToolUse, tool } from '../tool.ts'

const Input = Type.Object({
  action: Type.Enum(['status', 'request', 'apply']),
  document_id: Type.Optional(Type.String({ description: 'status, request' })),
  locale: Type.Optional(Type.String({ description: 'request: BCP 47, such as de' })),
  source_locale: Type.Optional(Type.String({ description: 'request: of the document, for its first translation' })),
  job_id: Type.Optional(Type.String({ description: 'apply' })),
  version: Type.Optional(Type.Unsafe<string>({ ...Version, description: 'apply: guard, of the translation' })),
})
type Input = Static<typeof Input>

const { id, title, locale, translation_freshness, translated_from_version } = LocalizedDocument.properties
const { target_document_id, unit_count, remaining_unit_count } = TranslationJob.properties

const Translation = Type.Object({
  id,
  title,
  locale,
  freshness: translation_freshness,
  open_texts: Type.Integer(),
  translated_from_version,
})
type Translation = Static<typeof Translation>

const Output = Type.Object({
  source_document_id: Type.Optional(Type.String()),
  source_locale: Type.Optional(Type.String()),
  translations: Type.Optional(Type.Array(Translation)),
  job: Type.Optional(Type.Object({ id: Type.String(), target_document_id, unit_count, remaining_unit_count })),
  applied: Type.Optional(
    Type.Object({
      document_id: Type.String(),
      version: Version,
      written: Type.Integer(),
      skipped: Type.Array(Type.String()),
    }),
  ),
  note: Type.Optional(Type.String()),
})
type Answer = Promise<ToolAnswer<Static<typeof Output>>>

/** Says how the translations of a document stand, has a model translate, and writes what the model proposed. */
export const translate = tool({
  name: 'translate',
  title: 'Translate',
  description:
    'status: the translations of a document, and whether they fit its text; request: a model translates what is missing or outdated, as a job; apply: write a finished job into the translation. What a person wrote is never replaced.',
  input: Input,
  output: Output,
  readOnly: false,
  destructive: true,
  openWorld: true,
  run(args, use) {
    const { door } = use
    if (args.action === 'request') return request(use, args)
    return args.action === 'apply' ? apply(door, args) : showStatus(door, args)
  },
})

async function showStatus(door: Door, args: Input): Answer {
  const { document_id } = needed(args, { names: ['document_id'], when: 'for the status' })
  const { data } = await door<Static<typeof DocumentSet>>({
    operationId: 'listTranslations',
    params: { id: document_id },
  })
  const { source_document_id, source_locale } = data
  const translations = data.variants.filter(({ variant_role }) => variant_role === 'translation').map(shown)
  return {
    structured: { source_document_id, source_locale, translations },
    summary: `${translations.length} translations of ${source_document_id} (${source_locale}).`,
    untrusted: translations.map(line).join('\n'),
  }
}

function shown({ id, title, locale, translated_from_version, ...variant }: LocalizedDocument): Translation {
  const { missing = 0, source_changed = 0, conflict = 0 } = variant.translation_status_counts ?? {}
  const open_texts = missing + source_changed + conflict
  return {
    id,
    title: shortName(title),
    locale,
    freshness: variant.translation_freshness,
    open_texts,
    translated_from_version,
  }
}

function line({ id, title, locale, freshness, open_texts, translated_from_version: version }: Translation): string {
  const from = version === null ? '' : `, from version ${version}`
  return `${locale} ${id} (${freshness}, ${open_texts} texts to translate${from}): ${oneLine(title)}`
}

async function request(use: ToolUse, args: Input): Answer {
  const { document_id, locale } = needed(args, { names: ['document_id', 'locale'], when: 'to request a translation' })
  const params = { id: document_id }
  const body = { target_locale: locale }
  const create = async () =>
    (await use.door<TranslationJob>({ operationId: 'createTranslationJob', params, body })).data
  try {
    return jobAnswer(await create())
  } catch (error) {
    // The document has no translation in this language yet. So the tool makes it, with the blocks of the source.
    const made = await newTranslation(use.door, { args, locale, error })
    const started = await afterWrite(use, create)
    return 'code' in started ? unstartedAnswer(made, started.code) : jobAnswer(started.value)
  }
}

type Missing = { args: Input; locale: string; error: unknown }

// Makes the translation whose absence was the reason of a refusal. Throws every other refusal again.
async function newTranslation(door: Door, { args, locale, error }: Missing): Promise<LocalizedDocument | undefined> {
  const params = { id: args.document_id ?? '' }
  if (isRefusal(error, 'translation_not_found')) {
    const body = { locale, create_mode: 'copy_structure' }
    return (await door<LocalizedDocument>({ operationId: 'addTranslation', params, body })).data
  }
  if (!isRefusal(error, 'localization_not_active')) throw error
  const { source_locale } = needed(args, { names: ['source_locale'], when: 'for the first translation' })
  const body = { source_locale, target_locales: [locale], create_mode: 'copy_structure' }
  const { data } = await door<Static<typeof DocumentSet>>({ operationId: 'activateTranslation', params, body })
  return data.variants.find(({ variant_role }) => variant_role === 'translation')
}

function jobAnswer({ id, target_document_id, unit_count, remaining_unit_count }: TranslationJob) {
  const rest = remaining_unit_count === 0 ? '' : ` ${remaining_unit_count} more need a further job.`
  return {
    structured: { job: { id, target_document_id, unit_count, remaining_unit_count } },
    summary: `Job ${id} translates ${unit_count} texts into the document ${target_document_id}.${rest} Wait for it with the tool job, then apply it.`,
  }
}

// The new translation stands without a job. An answer that was only a refusal would hide the new document.
function unstartedAnswer(made: LocalizedDocument | undefined, code: ErrorCode) {
  const translations = made === undefined ? [] : [shown(made)]
  const note = `The document of the translation was made and is not translated: no job could be started (${code}).`
  return {
    structured: { translations, note },
    summary: `${note} Request it again later, or write the translation into ${made?.id ?? 'the document'} yourself.`,
    untrusted: translations.map(line).join('\n'),
  }
}

async function apply(door: Door, args: Input): Answer {
  const { job_id: id } = needed(args, { names: ['job_id'], when: 'to apply a job' })
  const { data: applied } = await door<Applied>({
    operationId: 'applyTranslationJob',
    params: { id },
    headers: ifMatch(args.version ?? (await versionOfTarget(door, id))),
    body: {},
  })
  const { document_id, version } = applied
  const skipped = applied.skipped.map(({ reason }) => reason)
  const kept = skipped.length === 0 ? '' : ` ${skipped.length} were left: ${[...new Set(skipped)].join(', ')}.`
  return {
    structured: { applied: { document_id, version, written: applied.applied.length, skipped } },
    summary: `Wrote ${applied.applied.length} texts into ${document_id}, whose version is now ${version}.${kept} The version before it is in history.`,
  }
}

// Units that a person has edited are skipped whatever the guard says, so the present version is a safe guard.
async function versionOfTarget(door: Door, jobId: string): Promise<string> {
  const { data: job } = await door<TranslationJob>({ operationId: 'getTranslationJob', params: { id: jobId } })
  const { data: target } = await door<Document>({ operationId: 'getDocument', params: { id: job.target_document_id } })
  return target.version
}

function isRefusal(error: unknown, code: ErrorCode): boolean {
  return error instanceof Refusal && error.code === code
}
