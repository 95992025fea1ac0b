import type { BodyNode } from '../../body/document.ts'
import type { Ahead } from '../../computations/ahead.ts'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { Refusal } from '../../errors/errors.ts'
import { canonicalOrNull } from '../../locales/locale.ts'
import { codePoints } from '../../schema/code-points.ts'
import { inlineMarkdown } from '../inline/markdown.ts'
import { type SetMembers, sourceOf } from '../members.ts'
import { bodiesOf, type Pair, translationNamed } from '../pair.ts'
import type { UnitStatus } from '../schema.ts'
import { type PairTexts, pairComputation, unitsIn } from '../units/pair-texts.ts'
import type { PlacedUnit } from '../units/present.ts'
import { statusesOfUnits, unitsOfTarget } from '../units/queries.ts'
import type { JobRow, JobUnit } from './queries.ts'
import { type Applied, type JobInput, maximumUnits, type SkipReason } from './schema.ts'

/** The statuses of units that a job translates by default. */
const open: ReadonlySet<UnitStatus> = new Set<UnitStatus>(['missing', 'source_changed'])

/** A document that a path names, with the request for a job on this document. */
type NamedTarget = { documentId: string; request: JobInput }

/**
 * Finds the translation that a request for a job names, and checks the units that the request names. Returns null when
 * `target_locale` is malformed, because the 422 of a malformed locale comes after other checks. Refuses with 400 when
 * the request names no translation, and with 404 `translation_not_found` or `unit_not_found`.
 */
export async function findTarget(tx: Transaction, found: SetMembers, named: NamedTarget): Promise<DocumentRow | null> {
  const { unit_ids } = named.request
  const target = targetOf(found, named)
  // The units of a deleted source are deleted, too. The caller then learns that the source is missing, not the unit.
  if (target === null || unit_ids === undefined || sourceOf(found) === null) return target
  const key = { workspaceId: target.workspace_id, targetId: target.id }
  const known = await statusesOfUnits(tx, { ...key, unitIds: unit_ids })
  requireKnownUnits([...known.keys()], unit_ids)
  return target
}

// Returns the translation in the target locale of the request. When the request names no locale, returns the document
// of its path.
function targetOf(found: SetMembers, { documentId, request }: NamedTarget): DocumentRow | null {
  if (request.target_locale !== undefined) {
    const locale = canonicalOrNull(request.target_locale)
    return locale === null ? null : translationNamed(found, { locale, localeField: 'target_locale' })
  }
  const member = found.members.find(({ id }) => id === documentId)
  if (member?.variant_role === 'translation') return member
  const message = 'is required unless the document is a translation'
  throw new Refusal('invalid_request', { details: { fields: [{ path: '/target_locale', message }] } })
}

/**
 * A choice of units for a job, in the order of the source document, as the job stores them. `remaining` is the number
 * of further units that did not fit into the job. `characters` is the number of code points of the texts that the model
 * gets.
 */
export type Selection = { units: JobUnit[]; remaining: number; characters: number }

/**
 * Selects the units that a job translates. Without `unitIds` a job gets the first hundred units, in the order of the
 * source document, that are missing or outdated. With `unitIds` it gets the named units, among which a text that a
 * machine made may be made anew. A text that a person wrote, confirmed, ignored or has to settle is never translated.
 * Refuses with 404 `unit_not_found`, and with 422 `nothing_to_translate` when no unit is left. The caller has locked
 * source document and translation by `lockPair`.
 */
export async function selectUnits(
  { tx, ahead }: { tx: Transaction; ahead: Ahead },
  { pair, unitIds }: { pair: Pair; unitIds: readonly string[] | undefined },
): Promise<Selection> {
  const { source, target } = await bodiesOf(tx, pair)
  const units = await unitsOfTarget(tx, { workspaceId: pair.target.workspace_id, targetId: pair.target.id })
  return ahead.result(selecting, { source: source.text, target: target.text, units, unitIds })
}

/**
 * Selects the units of a job from the texts and units of a translation. A thread calls this function by its name.
 * @public
 */
export function selectFrom({ unitIds, ...texts }: PairTexts & { unitIds: readonly string[] | undefined }): Selection {
  const placed = unitsIn(texts)
  const placedIds = placed.map(({ unit }) => unit.id)
  requireKnownUnits(placedIds, unitIds)
  const { eligible, skipped, remaining } = eligibleOf(placed, unitIds)
  if (eligible.length === 0) throw new Refusal('nothing_to_translate')
  return { units: jobUnits({ eligible, skipped }), remaining, characters: sourceCharacters(eligible) }
}

const selecting = pairComputation({ module: import.meta.url, run: selectFrom })

/**
 * A division of units: the `eligible` units of a job are translated, and the `skipped` units are reported with their
 * status.
 */
type Eligible = { eligible: PlacedUnit[]; skipped: PlacedUnit[]; remaining: number }

function eligibleOf(units: readonly PlacedUnit[], unitIds: readonly string[] | undefined): Eligible {
  if (unitIds === undefined) {
    const candidates = units.filter(({ unit }) => open.has(unit.status))
    const eligible = candidates.slice(0, maximumUnits)
    return { eligible, skipped: [], remaining: candidates.length - eligible.length }
  }
  const ids = new Set(unitIds)
  const named = units.filter(({ unit }) => ids.has(unit.id))
  return {
    eligible: named.filter(({ unit }) => isReplaceable(unit.status)),
    skipped: named.filter(({ unit }) => !isReplaceable(unit.status)),
    remaining: 0,
  }
}

// Counts the code points of the texts of units as the model gets them.
function sourceCharacters(units: readonly PlacedUnit[]): number {
  const texts = inlineMarkdown(units.map(({ source }) => source.block.content))
  return texts.reduce((sum, text) => sum + codePoints(text), 0)
}

function jobUnits({ eligible, skipped }: Pick<Eligible, 'eligible' | 'skipped'>): JobUnit[] {
  const skippedOnes = new Set(skipped)
  return [...eligible, ...skipped]
    .sort((a, b) => a.position - b.position)
    .map((placed) => ({
      unit_id: placed.unit.id,
      source_block_id: placed.source.id,
      source_hash: placed.unit.source_hash,
      skipped: skippedOnes.has(placed) ? placed.unit.status : null,
    }))
}

/**
 * A plan for applying a job that has the translated texts to be written into the translation, each with its unit.
 * `skipped` are the units that are left out.
 */
type Plan = { contents: { unitId: string; content: BodyNode[] }[]; skipped: Applied['skipped'] }

/**
 * Plans which translated texts of a job are applied: the texts of the named units, or of all translated units.
 * `statuses` has the statuses of the units of the job that still exist. Skips units that were applied already, that the
 * job has not translated, or whose text a person edited, confirmed or ignored meanwhile.
 */
export function planApplication(
  job: JobRow,
  input: { statuses: ReadonlyMap<string, UnitStatus>; unitIds: readonly string[] | undefined },
): Plan {
  const results = new Map((job.result ?? []).map((result) => [result.unit_id, result]))
  const translated = [...results.values()].flatMap(({ unit_id, content }) => (content === null ? [] : unit_id))
  const plan: Plan = { contents: [], skipped: [] }
  for (const unitId of new Set(input.unitIds ?? translated)) {
    const { applied_at = null, content = null } = results.get(unitId) ?? {}
    const status = input.statuses.get(unitId)
    if (applied_at !== null) plan.skipped.push({ unit_id: unitId, reason: 'already_applied' })
    else if (content === null || status === undefined) {
      plan.skipped.push({ unit_id: unitId, reason: 'not_translated' })
    } else if (!isReplaceable(status)) plan.skipped.push({ unit_id: unitId, reason: status as SkipReason })
    else plan.contents.push({ unitId, content })
  }
  return plan
}

/** Checks that the caller names only known units; refuses with 404 `unit_not_found`. */
export function requireKnownUnits(knownIds: readonly string[], unitIds: readonly string[] = []): void {
  const known = new Set(knownIds)
  const unknown = unitIds.find((id) => !known.has(id))
  if (unknown !== undefined) throw new Refusal('unit_not_found', { details: { id: unknown, field: 'unit_ids' } })
}

// Tells whether a machine may replace the text of a unit.
function isReplaceable(status: UnitStatus): boolean {
  return open.has(status) || status === 'machine_translated'
}
