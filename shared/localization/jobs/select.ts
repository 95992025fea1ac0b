import type { UnitStatus } from '../schema.ts'
import type { PlacedUnit } from '../units/present.ts'
import { maximumUnits } from './schema.ts'

/** The units of a job: `eligible` are translated, `skipped` are told why not, `remaining` is how many did not fit. */
export type Selection = { eligible: PlacedUnit[]; skipped: PlacedUnit[]; remaining: number }

/**
 * Which units a job translates (decisions 3): those that are missing or outdated, at most a hundred, in the order of the
 * source; or the named ones, of which a text that a machine made may be made anew. What a person wrote, confirmed or has
 * to settle is never eligible.
 */
export function selectUnits(units: readonly PlacedUnit[], unitIds: readonly string[] | undefined): Selection {
  if (unitIds === undefined) {
    const open = units.filter(({ unit }) => byDefault.has(unit.status))
    const eligible = open.slice(0, maximumUnits)
    return { eligible, skipped: [], remaining: open.length - eligible.length }
  }
  const named = units.filter(({ unit }) => unitIds.includes(unit.id))
  return {
    eligible: named.filter(({ unit }) => isReplaceable(unit.status)),
    skipped: named.filter(({ unit }) => !isReplaceable(unit.status)),
    remaining: 0,
  }
}

/** Whether a machine may put its text in place of that of a unit. */
export function isReplaceable(status: UnitStatus): boolean {
  return byDefault.has(status) || status === 'machine_translated'
}

const byDefault: ReadonlySet<UnitStatus> = new Set<UnitStatus>(['missing', 'source_changed'])
