import type { Client } from '../support/client.ts'

/** One line of the result. `bar` is the required figure; `met` is null without such a figure. */
export type Figure = { name: string; value: string; bar?: string; met?: boolean }

/**
 * Runs the sides in turn, every second round in reverse order, so that a machine that gets slower or faster affects all
 * sides alike. Each run returns its own rate. The result is the median of each side.
 */
export async function alternate<Name extends string>(
  rounds: number,
  sides: Record<Name, () => Promise<number>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(sides) as Name[]
  const values = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) values[name].push(await sides[name]())
  }
  return Object.fromEntries(names.map((name) => [name, percentile(values[name], 50)])) as Record<Name, number>
}

/** The percentile: the value that `percent` percent of the values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN
}

/** Runs `work` `count` times, `concurrency` at a time. Returns the number of runs per second. */
export async function rate(
  options: { count: number; concurrency: number },
  work: (index: number) => Promise<unknown>,
): Promise<number> {
  let next = 0
  const started = performance.now()
  const lanes = Array.from({ length: options.concurrency }, async () => {
    while (next < options.count) {
      const index = next
      next += 1
      await work(index)
    }
  })
  await Promise.all(lanes)
  return options.count / ((performance.now() - started) / 1000)
}

/** Prints the figures as a table. */
export function printTable(figures: readonly Figure[]): void {
  const head = { name: 'figure', value: 'value', bar: 'bar', met: 'met' }
  const rows = figures.map(({ name, value, bar = '', met }) => ({
    name,
    value,
    bar,
    met: met === undefined ? '' : met ? 'yes' : 'NO',
  }))
  const columns = ['name', 'value', 'bar', 'met'] as const
  const widths = columns.map((column) => Math.max(...[head, ...rows].map((row) => row[column].length)))
  for (const row of [head, ...rows]) {
    process.stdout.write(
      `${columns
        .map((column, index) => row[column].padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    )
  }
}

/** Milliseconds, with one decimal place below ten. */
export function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`
}

/** The processor time that the API process of a client has used so far, with its threads, in milliseconds. */
export async function processorTime(client: Client): Promise<number> {
  const { text: metrics } = await client.call('GET', '//metrics')
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(metrics)?.[1]) * 1000
}
