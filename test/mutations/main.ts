import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../support/processes.ts'
import { type Fault, faults } from './faults.ts'

/*
 * `npm run test:mutations`: puts each fault into a copy of the last commit and looks which tests notice. The tests of
 * its folders and the contract tests come first; a fault that they miss meets the short run, and then the long one.
 * `--only 3,17` takes some of the faults, by their place in the list; `--no-long` leaves the long run out.
 */

type Outcome = 'folder' | 'short' | 'long' | 'survived'

const { values } = parseArgs({ options: { only: { type: 'string' }, 'no-long': { type: 'boolean' } } })
const chosen = values.only?.split(',').map(Number)

const copy = await mkdtemp(join(tmpdir(), 'documents-mutations-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
execFileSync('git', ['clone', '--quiet', '--shared', root, copy])
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))

const outcomes: Outcome[] = []
for (const [index, fault] of faults.entries()) {
  if (chosen !== undefined && !chosen.includes(index)) continue
  const outcome = outcomeOf(fault)
  outcomes.push(outcome)
  console.log(`${String(index).padStart(2)}  ${outcome.padEnd(8)}  ${fault.file}: ${fault.fault}`)
}
for (const [outcome, all] of Map.groupBy(outcomes, (outcome) => outcome)) console.log(`${outcome}: ${all.length}`)

function outcomeOf(fault: Fault): Outcome {
  const file = join(copy, fault.file)
  const source = readFileSync(file, 'utf8')
  if (source.split(fault.text).length !== 2) throw new Error(`${fault.file} does not have ${fault.text} once`)
  writeFileSync(
    file,
    source.replace(fault.text, () => fault.by),
  )
  try {
    if (fails([...fault.tests, 'contract'].map((folder) => `test/${folder}`))) return 'folder'
    if (fails([])) return 'short'
    return values['no-long'] !== true && fails(['--long']) ? 'long' : 'survived'
  } finally {
    writeFileSync(file, source)
  }
}

// Whether a test fails. The run ends at the first failure.
function fails(words: readonly string[]): boolean {
  const run = ['test/support/run.ts', '--bail', ...words]
  return spawnSync(process.execPath, run, { cwd: copy, stdio: 'ignore' }).status !== 0
}
