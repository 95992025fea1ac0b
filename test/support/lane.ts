import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import root, { type Test } from 'tap'
import { costsVariable, type FileCost } from './costs.ts'
import { treeCpuSeconds } from './cpu.ts'
import { Leftovers } from './leftovers.ts'
import { root as directory } from './processes.ts'
import { isLong } from './run-options.ts'
import './runs.ts'
import { workspaceDigests } from './shared-database.ts'
import { enterFile } from './tap.ts'

// The most milliseconds of all tests of a file together, and so of each.
const timeout = Number(process.env['TEST_FILE_SECONDS'] ?? (isLong ? 600 : 240)) * 1000

/**
 * Runs test files in this process, one after the other, so that the modules of the service are loaded once. Each file
 * is a test of the process. The process fails when a file leaves something behind.
 */
export async function runFiles(name: string, files: readonly string[]): Promise<void> {
  endWithParent()
  // tap ends a process that has no test for a moment, so all files are in one.
  root.setTimeout(0)
  await root.test(name, { timeout: 0 }, async (lane) => {
    for (const file of files) await runFile(lane, file)
  })
}

let rows: ReadonlyMap<string, string> = new Map()

async function runFile(lane: Test, file: string): Promise<void> {
  const before = { cpu: treeCpuSeconds(), at: performance.now() }
  const leftovers = new Leftovers()
  await lane.test(file, { timeout }, async (test) => {
    enterFile(test)
    await import(pathToFileURL(join(directory, file)).href)
  })
  for (const left of await leftovers.found()) lane.fail(`${file} leaves ${left} behind`)
  // The short run does without this look at every row.
  const now = isLong ? await workspaceDigests() : rows
  for (const [workspace, digest] of rows) {
    if (now.get(workspace) !== digest) lane.fail(`${file} has changed workspace ${workspace} of another file`)
  }
  rows = now
  note({ file, seconds: (performance.now() - before.at) / 1000, cpuSeconds: treeCpuSeconds() - before.cpu })
}

function note(cost: FileCost): void {
  const costs = process.env[costsVariable]
  if (costs !== undefined) appendFileSync(costs, `${JSON.stringify(cost)}\n`)
}

/** Ends this process when tap has ended, also by SIGKILL. What the process has started ends with it. */
function endWithParent(): void {
  const parent = process.ppid
  setInterval(() => process.ppid !== parent && process.exit(1), 500).unref()
}
