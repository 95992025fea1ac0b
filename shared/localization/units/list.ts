import type { Caller } from '../../auth/caller.ts'
import { compute } from '../../computations/compute.ts'
import type { Queryable } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import { canonicalLocale } from '../../locales/locale.ts'
import { findSetOf, sourceOf } from '../members.ts'
import { bodiesOf, type Pair, translationNamed } from '../pair.ts'
import { type PairTexts, pairComputation, unitsIn } from './pair-texts.ts'
import { presentUnits } from './present.ts'
import { unitsOfTarget } from './queries.ts'

/**
 * A filter of a list of units. `after` is the position of the last unit of the page before, in the order of the source
 * document.
 */
export type UnitFilter = {
  targetDocumentId?: string | undefined
  locale?: string | undefined
  status?: string | undefined
  after: number | null
  limit: number
}

/** A request for a list of units: the texts that the list is made from, and which page of the list is asked for. */
export type UnitsView = PairTexts & { pair: Pair; after: number | null; limit: number }

/**
 * A page of a list of units as JSON text. `last` is the position of the last unit on the page, null for an empty page.
 */
export type UnitsPage = { dataText: string; last: number | null; hasMore: boolean }

/**
 * Reads the texts of the units of a translation. Returns null for a translation whose source document was deleted,
 * because such a translation has no units. Refuses with 400 when the filter names no target or names two targets, with
 * 400 `invalid_locale`, and with 404 `document_not_found`, `not_localized` or `translation_not_found`. Call this
 * function in a transaction whose statements all see the same state of the database. Otherwise bodies and units might
 * not belong together.
 */
export async function unitsView(
  db: Queryable,
  input: { caller: Caller; documentId: string; filter: UnitFilter },
): Promise<UnitsView | null> {
  const { filter } = input
  if (filter.targetDocumentId === undefined && filter.locale === undefined) {
    throw invalid('one of target_document_id and locale is required')
  }
  const locale =
    filter.locale === undefined ? undefined : canonicalLocale(filter.locale, { status: 400, field: 'locale' })
  const found = await findSetOf(db, input)
  const target = translationNamed(found, { documentId: filter.targetDocumentId, locale })
  if (target === null) throw invalid('target_document_id and locale name different translations')
  const source = sourceOf(found)
  if (source === null) return null
  const pair = { set: found.set, source, target }
  const bodies = await bodiesOf(db, pair)
  const units = await unitsOfTarget(db, {
    workspaceId: target.workspace_id,
    targetId: target.id,
    status: filter.status,
  })
  const { after, limit } = filter
  return { source: bodies.source.text, target: bodies.target.text, units, pair, after, limit }
}

/** Lists the units of the page that a view asks for, in a thread where this may take long. */
export function listUnits(view: UnitsView): Promise<UnitsPage> {
  return compute(listing, view)
}

/** Lists the units of the page that a view asks for. A thread calls this function by its name. @public */
export function renderUnits({ pair, after, limit, ...texts }: UnitsView): UnitsPage {
  const units = unitsIn(texts)
  const rest = after === null ? units : units.filter(({ position }) => position > after)
  const page = rest.slice(0, limit)
  return {
    dataText: JSON.stringify(presentUnits(pair, page)),
    last: page.at(-1)?.position ?? null,
    hasMore: rest.length > limit,
  }
}

const listing = pairComputation({ module: import.meta.url, run: renderUnits })

function invalid(message: string): Refusal {
  return new Refusal('invalid_request', { details: { fields: [{ path: '?target_document_id', message }] } })
}
