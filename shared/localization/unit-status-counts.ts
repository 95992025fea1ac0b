import Type from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { type UnitStatusCounts, unitStatuses } from './schema.ts'

const CountRow = row(
  Type.Object({ document_id: Type.String(), status: Type.Enum([...unitStatuses]), count: Type.Number() }),
)

/** How many units each translation has by status, by the id of its document; zeros where it has none. */
export async function unitStatusCounts(
  db: Queryable,
  input: { workspaceIds: readonly string[]; documentIds: readonly string[] },
): Promise<Map<string, UnitStatusCounts>> {
  const rows = await db.any(sql.type(CountRow)`
    SELECT target_document_id AS document_id, status, count(*) AS count FROM translation_units
    WHERE workspace_id = ANY(${sql.array([...input.workspaceIds], 'text')})
      AND target_document_id = ANY(${sql.array([...input.documentIds], 'text')})
    GROUP BY target_document_id, status`)
  const counts = new Map(input.documentIds.map((id) => [id, noUnits()]))
  for (const { document_id, status, count } of rows) (counts.get(document_id) ?? noUnits())[status] = count
  return counts
}

function noUnits(): UnitStatusCounts {
  return Object.fromEntries(unitStatuses.map((status) => [status, 0])) as UnitStatusCounts
}
