import { inSnapshot } from '../../../shared/database/database.ts'
import type { DocumentRow } from '../../../shared/documents/queries.ts'
import { type SetMembers, sourceOf } from '../../../shared/localization/members.ts'
import { freshnessOf, unitStatusCounts } from '../../../shared/localization/resolve.ts'
import { type UnitStatus, unitStatuses } from '../../../shared/localization/schema.ts'
import { listUnits, unitsView } from '../../../shared/localization/units/list.ts'
import type { TranslationUnit } from '../../../shared/localization/units/schema.ts'
import { configuredModel } from '../../../shared/models/model.ts'
import { cutText } from '../../../shared/schema/strings.ts'
import { decodeCursor, encodeCursor } from '../../http/pagination.ts'
import type { PanelCall } from './frame.ts'
import { type JobLine, type Proposal, shownJob } from './translation-jobs.ts'
import { freshnessWords, languageName, type StatusWords, unitWords, workflowWords } from './translation-words.ts'

// How many units a page shows, and how many code points of each text.
const shownAtOnce = 25
const shownText = 2000

/** A unit: a text of the source beside its text in the translation. `target` is null for a text that is missing. */
type UnitLine = {
  id: string
  status: UnitStatus
  words: StatusWords
  isHeading: boolean
  source: { href: string; text: string }
  target: { href: string; text: string } | null
  proposal: Proposal | null
}

/** A translation beside its source. `version` is that of the translation, which guards what the forms ask for. */
export type SideBySide = {
  documentId: string
  locale: string
  language: string
  sourceLocale: string
  sourceLanguage: string
  title: string
  version: string
  workflow: { value: string; words: string; isChosen: boolean }[]
  freshness: StatusWords
  sourceIsGone: boolean
  counts: { status: UnitStatus; words: StatusWords; count: number; isChosen: boolean }[]
  unitCount: number
  status: UnitStatus | null
  units: UnitLine[]
  /** The positions in the list of units: of this page, and of the next page. */
  cursor: string | null
  next: string | null
  hasModel: boolean
  /** How many units the model would translate. */
  translatable: number
  job: JobLine | null
  jobs: JobLine[]
}

/**
 * Reads a translation of a document beside its source: one page of its units, and its latest jobs. `asked` gives what
 * the person has asked for: the `status` of the units, the page `units` of their list, and a `job`.
 */
export async function sideBySide(
  call: PanelCall,
  { found, target, asked }: { found: SetMembers; target: DocumentRow; asked: (name: string) => string },
): Promise<SideBySide> {
  const { database, config } = call.service
  const { id: documentId, workspace_id: workspaceId } = target
  const status = unitStatuses.find((known) => known === asked('status')) ?? null
  const source = sourceOf(found)
  const listed = listOf(call, { target, status, cursor: asked('units') || null })
  // One snapshot, so that freshness and counts are those of the texts.
  const { freshness, counts, texts } = await inSnapshot(database, async (db) => ({
    freshness: await freshnessOf(db, [target]),
    counts: await unitStatusCounts(db, { workspaceIds: [workspaceId], documentIds: [documentId] }),
    texts: await unitsView(db, listed.request),
  }))
  const [page, { job, jobs, proposals }] = await Promise.all([
    unitsOf(texts, listed),
    shownJob(call, { target, source, jobId: asked('job') }),
  ])
  const ofStatus = (name: UnitStatus) => counts.get(documentId)?.[name] ?? 0
  const { set } = found
  const locale = target.locale ?? ''
  return {
    documentId,
    locale,
    language: languageName(locale),
    sourceLocale: set.source_locale,
    sourceLanguage: languageName(set.source_locale),
    title: target.title,
    version: page.version ?? target.version,
    workflow: Object.entries(workflowWords).map(([value, words]) => {
      return { value, words, isChosen: value === target.workflow_status }
    }),
    freshness: freshnessWords[freshness(documentId)],
    sourceIsGone: source === null,
    counts: unitStatuses.map((name) => {
      return { status: name, words: unitWords[name], count: ofStatus(name), isChosen: name === status }
    }),
    unitCount: unitStatuses.reduce((sum, name) => sum + ofStatus(name), 0),
    status,
    units: page.units.map((unit) => unitLine(unit, proposals.get(unit.id) ?? null)),
    cursor: page.cursor,
    next: page.next,
    hasModel: configuredModel(config, 'TRANSLATION_MODEL') !== null,
    translatable: ofStatus('missing') + ofStatus('source_changed'),
    job,
    jobs,
  }
}

type UnitsPage = { units: TranslationUnit[]; cursor: string | null; next: string | null; version: string | null }

// The page of units that was asked for.
function listOf(
  { caller, document }: PanelCall,
  { target, status, cursor }: { target: DocumentRow; status: UnitStatus | null; cursor: string | null },
) {
  const scope = { endpoint: 'panel of translations', filters: { id: target.id, status }, sort: 'position' }
  const after = cursor === null ? null : Number(decodeCursor(scope, cursor, ['number'])[0])
  const filter = { targetDocumentId: target.id, status: status ?? undefined, after, limit: shownAtOnce }
  return { scope, cursor, request: { caller, documentId: document.id, filter } }
}

// The version is that of the body whose texts are shown; null when no texts are shown.
async function unitsOf(
  texts: Awaited<ReturnType<typeof unitsView>>,
  { scope, cursor }: Pick<ReturnType<typeof listOf>, 'scope' | 'cursor'>,
): Promise<UnitsPage> {
  if (texts === null) return { units: [], cursor, next: null, version: null }
  const { dataText, last, hasMore } = await listUnits(texts)
  const next = hasMore && last !== null ? encodeCursor(scope, [last]) : null
  return { units: JSON.parse(dataText) as TranslationUnit[], cursor, next, version: texts.pair.target.version }
}

function unitLine(unit: TranslationUnit, proposal: Proposal | null): UnitLine {
  const { id, status, source_document_id, source_block_id, target_document_id, target_block_ids } = unit
  const [block] = target_block_ids
  const text = unit.target_text
  return {
    id,
    status,
    words: unitWords[status],
    isHeading: unit.block_type === 'heading',
    source: { href: `/d/${source_document_id}#${source_block_id}`, text: shortened(unit.source_text) },
    target:
      text === null
        ? null
        : { href: `/d/${target_document_id}${block === undefined ? '' : `#${block}`}`, text: shortened(text) },
    proposal: proposal && { ...proposal, text: proposal.text === null ? null : shortened(proposal.text) },
  }
}

function shortened(text: string): string {
  const start = cutText(text, shownText)
  return start === text ? text : `${start}…`
}
