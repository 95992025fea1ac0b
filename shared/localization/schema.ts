import Type, { type Static } from 'typebox'
import { maximumTranslationTitle } from '../documents/schema.ts'
import { Nullable, Version } from '../schema/identifiers.ts'
import { Text, TrimmedText } from '../schema/strings.ts'

const locale = Type.String({ description: 'BCP 47' })
const localeInput = Text({ description: 'BCP 47' })
const createMode = Type.Optional(
  Type.Enum(['blank', 'copy_structure'], {
    default: 'blank',
    description: '`blank`: one empty paragraph; `copy_structure`: the blocks of the source without its texts',
  }),
)

/**
 * A way to make the first body of a new translation: one empty paragraph, or the blocks of the source document without
 * their texts.
 */
export type CreateMode = 'blank' | 'copy_structure'

// The editorial state of a member. Any state may follow any other.
const WorkflowStatus = Type.Enum(['draft', 'in_review', 'published'])

/** Whether a translation agrees with the current text of its source. */
export const TranslationFreshness = Type.Enum(['current', 'outdated', 'unknown'])
export type TranslationFreshness = Static<typeof TranslationFreshness>

/** The statuses of a translation unit; `api/guide/translation.md#statuses` explains them. */
export const unitStatuses = [
  'ignored',
  'current',
  'missing',
  'conflict',
  'source_changed',
  'manually_edited',
  'machine_translated',
] as const
export type UnitStatus = (typeof unitStatuses)[number]

/** The number of units of a translation by status. */
export type UnitStatusCounts = Record<UnitStatus, number>

const count = Type.Integer({ minimum: 0 })
const StatusCounts = Type.Object(Object.fromEntries(unitStatuses.map((status) => [status, count])), {
  description: 'units of the translation by status',
})

/** A member of a document set as the API returns it. */
export const LocalizedDocument = Type.Object(
  {
    id: Type.String(),
    title: Type.String(),
    locale,
    variant_role: Type.Enum(['source', 'translation']),
    workflow_status: WorkflowStatus,
    document_set_id: Type.String(),
    document_set_uri: Type.String(),
    translation_freshness: TranslationFreshness,
    translation_status_counts: Type.Optional(StatusCounts),
    translated_from_document_id: Nullable(Type.String()),
    translated_from_version: Nullable(Version),
  },
  { $id: 'LocalizedDocument', description: 'A document of a set; the counts are absent on the source' },
)
export type LocalizedDocument = Static<typeof LocalizedDocument>

/** A document set as the API returns it: all languages of a document. */
export const DocumentSet = Type.Object(
  {
    id: Type.String(),
    uri: Type.String({ description: 'svc://docset/{id}' }),
    source_document_id: Type.String({ description: 'stays when the source is deleted' }),
    source_locale: locale,
    fallback_locale: locale,
    available_locales: Type.Array(locale, { description: 'sorted' }),
    source: Nullable(LocalizedDocument),
    variants: Type.Array(LocalizedDocument, { description: 'all members: the source first, then by locale' }),
  },
  { $id: 'DocumentSet' },
)
export type DocumentSet = Static<typeof DocumentSet>

// The most translations of one activation, because one transaction creates all their bodies.
const maximumTargets = 50

/** Body of `POST /documents/{id}/translation/activate`. */
export const ActivateInput = Type.Object(
  {
    source_locale: localeInput,
    target_locales: Type.Optional(Type.Array(localeInput, { maxItems: maximumTargets, default: [] })),
    create_mode: createMode,
  },
  { $id: 'LocalizationActivateInput' },
)

/** Body of `POST /documents/{id}/translations`. */
export const TranslationCreateInput = Type.Object(
  { locale, create_mode: createMode },
  { $id: 'TranslationCreateInput' },
)

/** Body of `PATCH /documents/{id}/translations/{targetDocId}`; absent members stay as they are. */
export const TranslationUpdateInput = Type.Object(
  {
    title: Type.Optional(TrimmedText({ min: 1, max: maximumTranslationTitle })),
    workflow_status: Type.Optional(WorkflowStatus),
  },
  { $id: 'TranslationUpdateInput' },
)
export type TranslationUpdateInput = Static<typeof TranslationUpdateInput>
