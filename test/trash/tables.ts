import Type from 'typebox'
import { type Database, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'

/** All rows of a database by table, each as JSON text, sorted. */
export type Tables = Map<string, string[]>

const Name = row(Type.Object({ name: Type.String() }))
const Line = row(Type.Object({ line: Type.String() }))

/** Reads every row of every table of the service. Tables of pg-boss are in another schema, and are left out. */
export async function readTables(database: Database, left: ReadonlySet<string>): Promise<Tables> {
  const names = await database.anyFirst(sql.type(Name)`
    SELECT relname AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace
    ORDER BY relname`)
  const tables: Tables = new Map()
  for (const name of names.filter((name) => !left.has(name))) {
    const lines = await database.anyFirst(sql.type(Line)`
      SELECT to_jsonb(t)::text AS line FROM ${sql.identifier([name])} AS t ORDER BY 1`)
    tables.set(name, [...lines])
  }
  return tables
}

/**
 * How two states of the tables differ: for each table the rows that only the first or only the second has. `blur` makes
 * equal what may differ, such as the time of a deletion.
 */
export function differences(
  [first, second]: readonly [Tables, Tables],
  blur: (line: string, table: string) => string | null = (line) => line,
): Record<string, { missing: string[]; added: string[] }> {
  const found: Record<string, { missing: string[]; added: string[] }> = {}
  for (const table of new Set([...first.keys(), ...second.keys()])) {
    const lines = (tables: Tables) => (tables.get(table) ?? []).flatMap((line) => blur(line, table) ?? []).sort()
    const [before, after] = [lines(first), lines(second)]
    const [missing, added] = [without(before, after), without(after, before)]
    if (missing.length + added.length > 0) found[table] = { missing, added }
  }
  return found
}

// The lines of `all` that `others` does not have, each as often as it is missing.
function without(all: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>()
  for (const line of others) counts.set(line, (counts.get(line) ?? 0) + 1)
  return all.filter((line) => {
    const left = counts.get(line) ?? 0
    counts.set(line, left - 1)
    return left <= 0
  })
}
