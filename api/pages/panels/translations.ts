import { canonicalOrNull } from '../../../shared/locales/locale.ts'
import { findSetOf, type SetMembers } from '../../../shared/localization/members.ts'
import { presentSet } from '../../../shared/localization/present.ts'
import type { LocalizedDocument } from '../../../shared/localization/schema.ts'
import { usualBucket } from '../account-page.ts'
import { actionOf } from '../form-refusal.ts'
import { view } from '../render.ts'
import { type PanelCall, panelPage } from './frame.ts'
import { readOnlyWords } from './refusal-words.ts'
import { type SideBySide, sideBySide } from './translation-sides.ts'
import { freshnessWords, languageName, offeredLanguages, workflowWords } from './translation-words.ts'
import { doneWords, translationWrites } from './translation-writes.ts'

/** A language of a document as the panel lists it. */
type Member = {
  language: string
  locale: string
  title: string
  href: string
  isSource: boolean
  isChosen: boolean
  workflow: string
  freshness: { badge: string; isGood: boolean; words: string }
  /** The number of units that are missing, outdated or in conflict; null for the source. */
  openUnits: number | null
}

type TranslationsData = {
  address: string
  csrfToken: string
  mayWrite: boolean
  /** What was done just now, and what was refused; null for nothing. */
  done: string | null
  problem: string | null
  /** Null for a document in one language. */
  members: Member[] | null
  sourceIsGone: boolean
  chosen: SideBySide | null
  languages: typeof offeredLanguages
  /** What the person has typed into the form for a new language. */
  typed: { locale: string; targets: string; mode: string }
}

const translationsView = view<TranslationsData>('translations-panel')

/**
 * The languages of a document and, for one translation, its texts beside those of the source
 * (api/guide/translation.md#members), with the jobs of the model.
 */
export const translationsPanel = panelPage({
  name: 'translations',
  bucket: (call) => (call.submitted?.field('operation') === 'translate' ? 'job' : usualBucket(call)),
  async show(call, refused) {
    const { service, request, csrfToken, document, mayWrite, query, caller } = call
    const isInSet = document.document_set_id !== null
    const found = isInSet ? await findSetOf(service.database, { caller, documentId: document.id }) : null
    const field = (name: string) => (refused === null ? query.get(name) : refused.submitted.field(name)) ?? ''
    const target = found && targetOf(call, { found, locale: field('translation') })
    const set = found && (await presentSet(service.database, found))
    const chosen = found && target && (await sideBySide(call, { found, target, asked: field }))
    const html = translationsView({
      title: 'Translations',
      address: request.path,
      csrfToken,
      mayWrite,
      done: doneWords.get(query.get('done') ?? '') ?? null,
      problem: refused?.problem ?? null,
      members: set?.variants.map((variant) => memberOf(variant, target?.id)) ?? null,
      sourceIsGone: set !== null && set.source === null,
      chosen,
      languages: offeredLanguages,
      typed: { locale: field('locale'), targets: field('targets'), mode: field('mode') },
    })
    return { html, isPending: chosen?.job?.isPending ?? false }
  },
  async write(call, submitted) {
    const operation = submitted.field('operation')
    const query = await actionOf(translationWrites, operation)(call, submitted)
    return `${call.request.path}?${new URLSearchParams({ ...query, done: operation })}`
  },
  reasons: {
    invalid_request: 'Something is missing in what was sent. Nothing has been changed.',
    invalid_locale: 'That is not the code of a language. Codes look like “de”, “pt-BR” or “zh-Hant”.',
    invalid_translation: 'Each language can be named once, and none can be the language of this document.',
    locale_exists: 'This document has a translation into that language already.',
    localization_already_active: 'Somebody has set the language of this document meanwhile. See below.',
    localization_not_active: 'This document has no translations any more.',
    source_document_missing: 'The source document was deleted, so there is nothing to translate from.',
    translation_not_found: 'That translation was deleted.',
    quota_exceeded: 'The workspace has as many documents as it may have. No translation was added.',
    nothing_to_translate: 'No text is missing or outdated, so there is nothing for the model to translate.',
    model_unavailable: 'No model is configured for translations. The operator of the service can set one.',
    translation_quota_exceeded:
      'The workspace has had as many characters translated today as it may. The limit starts again at midnight UTC.',
    unit_not_found: 'That text is no longer in the source.',
    job_not_found: 'That translation by the model is no longer kept. Ask for a new one.',
    job_not_succeeded: 'The model has not finished, or has failed, so nothing can be written.',
    translation_source_changed:
      'The source has changed since the model translated it. Nothing was written. Ask for a new translation.',
    version_conflict:
      'Somebody has changed the translation since you loaded this page. Nothing was written. Below is how it is now.',
    document_too_large: 'The translation would become larger than a document may be. Nothing was written.',
    forbidden: readOnlyWords,
  },
})

// The translation that is shown: the named translation, or else the document of the panel if it is a translation.
function targetOf(call: PanelCall, { found, locale }: { found: SetMembers; locale: string }) {
  const canonical = canonicalOrNull(locale)
  const translations = found.members.filter(({ variant_role }) => variant_role === 'translation')
  const named = translations.find((member) => member.locale === canonical)
  return named ?? translations.find(({ id }) => locale === '' && id === call.document.id) ?? null
}

function memberOf(variant: LocalizedDocument, chosenId: string | undefined): Member {
  const { id, locale, title, variant_role, workflow_status, translation_freshness } = variant
  const counts = variant.translation_status_counts
  return {
    language: languageName(locale),
    locale,
    title,
    href: `/d/${id}`,
    isSource: variant_role === 'source',
    isChosen: id === chosenId,
    workflow: workflowWords[workflow_status],
    freshness: freshnessWords[translation_freshness],
    openUnits:
      counts === undefined
        ? null
        : Number(counts['missing']) + Number(counts['source_changed']) + Number(counts['conflict']),
  }
}
