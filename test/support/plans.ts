import pg from 'pg'

/** A statement as it was sent to PostgreSQL. */
export type Statement = { text: string; values: unknown[] }

/** Runs `call`, and returns the statements that read which this process has sent meanwhile. */
export async function statementsOf(call: () => Promise<void>): Promise<Statement[]> {
  const sent: Statement[] = []
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...words: unknown[]) {
    const [config, values] = words as [string | Statement, unknown[] | undefined]
    const text = typeof config === 'string' ? config : config.text
    if (/^[\s(]*(WITH|SELECT)\b/i.test(text)) {
      sent.push({ text, values: (typeof config === 'string' ? values : config.values) ?? [] })
    }
    return Reflect.apply(query, this, words)
  } as typeof query
  try {
    await call()
  } finally {
    pg.Client.prototype.query = query
  }
  return sent
}

/** Executes a statement. Returns the most rows that a node of its plan has read, and the plan as text. */
export async function rowsReadBy(
  client: Pick<pg.Client, 'query'>,
  { text, values }: Statement,
): Promise<{ most: number; plan: string }> {
  const { rows } = await client.query(`EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`, values)
  const plan: PlanNode = rows[0]['QUERY PLAN'][0].Plan
  return { most: Math.max(...nodesOf(plan).map(rowsRead)), plan: outline(plan) }
}

type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Join Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

// The rows that a node has read or returned.
function rowsRead(node: PlanNode): number {
  const removed =
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  return (node['Actual Rows'] + removed) * node['Actual Loops']
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

function outline(node: PlanNode, depth = 0): string {
  const name = node['Index Name'] ?? node['Relation Name'] ?? ''
  const line = `${' '.repeat(depth)}${node['Node Type']} ${name} ${rowsRead(node)}`
  return [line, ...(node.Plans ?? []).map((part) => outline(part, depth + 1))].join('\n')
}
