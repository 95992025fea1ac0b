import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** The environment variable by which `npm test` passes the file for the costs of test files. */
export const costsVariable = 'TEST_COSTS'

/** What the tests of a file have cost, with the processor time of all processes that the file has started. */
export type FileCost = { file: string; seconds: number; cpuSeconds: number }

/** The costs that the lanes of a run have noted; none where no lane has come to its end. */
export async function readCosts(path: string): Promise<FileCost[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as FileCost)
}

/** The ten slowest files, and the processor time of each folder and of all that is no test file. */
export function reportCosts(costs: readonly FileCost[], total: { cpuSeconds: number; scaled: number }): string {
  const slowest = costs.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10)
  const folders = Map.groupBy(costs, ({ file }) => dirname(file))
  const sums = [...folders].map(([folder, files]) => ({ folder, cpuSeconds: sum(files) }))
  const others = total.cpuSeconds - sum(costs)
  const rows = [...sums, { folder: 'PostgreSQL of the run, tap and modules', cpuSeconds: others }]
  return [
    '# The slowest files, in seconds:',
    ...slowest.map(({ file, seconds }) => `# ${seconds.toFixed(1).padStart(7)}  ${file}`),
    '# The processor time of each folder, in seconds:',
    ...rows
      .toSorted((a, b) => b.cpuSeconds - a.cpuSeconds)
      .map(({ folder, cpuSeconds }) => `# ${cpuSeconds.toFixed(1).padStart(7)}  ${folder}`),
    `# CPU seconds: ${total.cpuSeconds.toFixed(0)}, scaled to the reference machine: ${total.scaled.toFixed(0)}`,
  ].join('\n')
}

function sum(costs: readonly FileCost[]): number {
  return costs.reduce((total, { cpuSeconds }) => total + cpuSeconds, 0)
}
