import { sql } from './database.ts'

/** A part of an SQL statement, with the values of its parameters. */
type Fragment = ReturnType<typeof sql.fragment>

// How many rows are looked through in the order of the list before the index of names is asked.
const lookedThrough = 500
// If the index of names finds at most so many rows, these are sorted. If it finds more, matches are so frequent that
// reading the list in its order soon finds them.
const sortedNames = 1000

/** A list of rows with names. Its fragments name columns of `alias`. */
export type NamedList = {
  alias: string
  /** The column of the name. */
  name: string
  /** The rows of the list, from FROM to its conditions. */
  listed: Fragment
  /** The rows that have an id, to the conditions that the id follows. */
  byId: Fragment
  /** The conditions of the list. */
  conditions: Fragment
  /**
   * A statement for the `id` of the rows that may match, by an index of names. It ends with a condition. The words come
   * from a subselect, so that the planner does not see them. For frequent words it would read the table instead.
   */
  mayMatch: Fragment
  order: Fragment
  /** A statement for the first rows in the order of the list. */
  ordered: (rows: Fragment, count: number) => Fragment
}

/**
 * A statement for the first `count` rows of a list whose name contains a text in any case. The beginning of the list
 * often holds them. Otherwise the index of names finds the rows that may match, if they are few. If they are many, the
 * list is read in its order.
 */
export function nameSearch(list: NamedList, { text, count }: { text: string; count: number }): Fragment {
  const { listed, ordered } = list
  const row = sql.identifier([list.alias])
  const matches = sql.fragment`strpos(lower(${sql.identifier([list.alias, list.name])}), lower(${text})) > 0`
  const isEnough = sql.fragment`(SELECT enough FROM looked)`
  const areFew = sql.fragment`(SELECT count(*) FROM named) <= ${sortedNames}`
  const id = sql.identifier([list.alias, 'id'])
  const found = sql.fragment`
    named CROSS JOIN LATERAL (SELECT * FROM ${list.byId} AND ${id} = named.id LIMIT 1) AS ${row}
    WHERE NOT ${isEnough} AND ${areFew} AND ${list.conditions} AND ${matches}`
  const further = sql.fragment`${listed} AND NOT ${isEnough} AND NOT ${areFew} AND ${matches}`
  return sql.fragment`
    WITH beginning AS MATERIALIZED (
      ${ordered(listed, lookedThrough)}
    ), looked AS MATERIALIZED (
      SELECT count(*) < ${lookedThrough} OR count(*) FILTER (WHERE ${matches}) >= ${count} AS enough
      FROM beginning AS ${row}
    ), named AS MATERIALIZED (
      ${list.mayMatch} AND NOT ${isEnough} LIMIT ${sortedNames + 1}
    )
    SELECT ${row}.* FROM (
      SELECT ${row}.* FROM beginning AS ${row} WHERE ${isEnough} AND ${matches}
      UNION ALL
      (${ordered(found, count)})
      UNION ALL
      (${ordered(further, count)})
    ) AS ${row} ORDER BY ${list.order} LIMIT ${count}`
}
