import type { TranslationJob } from '../../../shared/localization/jobs/schema.ts'
import type { LocalizedDocument, TranslationFreshness, UnitStatus } from '../../../shared/localization/schema.ts'

/** A status as a badge and as a sentence. `isGood` says that there is nothing to do. */
export type StatusWords = { badge: string; isGood: boolean; words: string }

/** What the freshness of a translation means. */
export const freshnessWords: Record<TranslationFreshness, StatusWords> = {
  current: { badge: 'Current', isGood: true, words: 'agrees with the current text of the source' },
  outdated: { badge: 'Outdated', isGood: false, words: 'has texts that are missing, outdated or in conflict' },
  unknown: { badge: 'Unknown', isGood: false, words: 'has not been compared with a source yet, or its source is gone' },
}

/** What the status of a unit means (api/guide/translation.md#statuses). */
export const unitWords: Record<UnitStatus, StatusWords> = {
  missing: { badge: 'Missing', isGood: false, words: 'Not translated yet.' },
  source_changed: { badge: 'Outdated', isGood: false, words: 'The source has changed since it was translated.' },
  conflict: { badge: 'Conflict', isGood: false, words: 'Both sides have changed since they belonged together.' },
  machine_translated: { badge: 'By the model', isGood: true, words: 'Translated by the model, not confirmed.' },
  manually_edited: { badge: 'By a person', isGood: true, words: 'Written by a person, not confirmed.' },
  current: { badge: 'Confirmed', isGood: true, words: 'Confirmed by a person.' },
  ignored: { badge: 'Ignored', isGood: true, words: 'Taken out of the work.' },
}

/** The editorial states of a member of a document set. */
export const workflowWords: Record<LocalizedDocument['workflow_status'], string> = {
  draft: 'Draft',
  in_review: 'In review',
  published: 'Published',
}

/** Why the model has not translated a text, by the reason of its result. */
export function reasonWords(reason: string): string {
  const status = Object.hasOwn(unitWords, reason) ? unitWords[reason as UnitStatus] : null
  return status === null ? (failures.get(reason) ?? 'The answer of the model could not be used.') : status.words
}

const failures = new Map([
  ['model_error', 'The model provider could not answer.'],
  ['model_timeout', 'The model took too long.'],
  ['model_bad_output', 'The answer of the model could not be used.'],
])

/** Why a job ended without a result. */
export const obsoleteWords: Record<NonNullable<TranslationJob['obsolete_reason']>, string> = {
  source_changed: 'The source was changed meanwhile, so the result would not have fitted. Ask for a new translation.',
  document_deleted: 'The source or the translation was deleted meanwhile.',
}

const names = new Intl.DisplayNames(['en'], { type: 'language' })

/** The English name of a language, or its code where it has no name. Extensions of the code are left out. */
export function languageName(locale: string): string {
  const { baseName } = new Intl.Locale(locale)
  return names.of(baseName) ?? baseName
}

/** The languages that forms offer. People may also type the code of any other language. */
export const offeredLanguages = [
  ...['ar', 'bn', 'cs', 'da', 'de', 'el', 'en', 'es', 'fa', 'fi', 'fr', 'he', 'hi', 'hu', 'id', 'it', 'ja', 'ko'],
  ...['nb', 'nl', 'pl', 'pt', 'pt-BR', 'ro', 'ru', 'sv', 'th', 'tr', 'uk', 'ur', 'vi', 'zh-Hans', 'zh-Hant'],
].map((locale) => ({ locale, name: languageName(locale) }))

/**
 * The code of the language that a person has typed. For the name of an offered language it is the code of that
 * language, else the text as it is. The result is empty for a longer word. BCP 47 would allow such a word as the code
 * of a language, but no such code is registered.
 */
export function typedLocale(typed: string): string {
  const text = typed.trim()
  const named = localeNamed(text)
  if (named !== undefined) return named
  return /^[a-z]{4,8}(-|$)/i.test(text) ? '' : text
}

/** The codes of the languages that a person has typed, separated by commas. Codes may also be separated by spaces. */
export function typedLocales(typed: string): string[] {
  return typed
    .split(/[,;\n]/)
    .flatMap((part) => (localeNamed(part.trim()) === undefined ? part.split(/\s/) : [part]))
    .filter((part) => part.trim() !== '')
    .map(typedLocale)
}

function localeNamed(text: string): string | undefined {
  return offeredLanguages.find(({ name }) => name.toLowerCase() === text.toLowerCase())?.locale
}
