import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../support/processes.ts'
import { type Fault, faults } from './faults.ts'

/*
 * `npm run test:mutations`: puts each fault into a copy of the last commit and looks which tests notice. The tests of
 * its folders and the contract tests come first; the faults that they miss meet the short run, and then the long one.
 * `--only 3,17` takes some of the faults, by their place in the list; `--until short` leaves the long run out, and
 * `--until folder` both runs.
 */

type Phase = { name: 'folder' | 'short' | 'long'; words: (fault: Fault) => string[] }

const { values } = parseArgs({ options: { only: { type: 'string' }, until: { type: 'string' } } })
const chosen = values.only?.split(',').map(Number)

const copy = await mkdtemp(join(tmpdir(), 'documents-mutations-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
execFileSync('git', ['clone', '--quiet', '--shared', root, copy])
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))

const phases: Phase[] = [
  { name: 'folder', words: ({ tests }) => [...tests, 'contract'].map((folder) => `test/${folder}`) },
  { name: 'short', words: () => [] },
  { name: 'long', words: () => ['--long'] },
]
const last = phases.findIndex(({ name }) => name === values.until)
let left = [...faults.keys()].filter((index) => chosen === undefined || chosen.includes(index))
for (const { name, words } of phases.slice(0, last === -1 ? phases.length : last + 1)) {
  const missed: number[] = []
  for (const index of left) {
    const fault = faults[index] as Fault
    const isCaught = await isNoticed(fault, words(fault))
    if (!isCaught) missed.push(index)
    console.log(
      `${String(index).padStart(2)}  ${name}: ${isCaught ? 'caught' : 'missed'}  ${fault.file}: ${fault.fault}`,
    )
  }
  console.log(`${name}: ${left.length - missed.length} caught, ${missed.length} missed`)
  left = missed
}

async function isNoticed(fault: Fault, words: readonly string[]): Promise<boolean> {
  const file = join(copy, fault.file)
  const source = readFileSync(file, 'utf8')
  if (source.split(fault.text).length !== 2) throw new Error(`${fault.file} does not have ${fault.text} once`)
  writeFileSync(
    file,
    source.replace(fault.text, () => fault.by),
  )
  try {
    return await fails(words)
  } finally {
    writeFileSync(file, source)
  }
}

// Whether a test fails. The run ends at the first failure.
async function fails(words: readonly string[]): Promise<boolean> {
  const run = ['test/support/run.ts', '--bail', ...words]
  const child = spawn(process.execPath, run, { cwd: copy, stdio: 'ignore' })
  const end = () => child.kill()
  process.on('exit', end)
  const [code] = await once(child, 'exit')
  process.off('exit', end)
  return code !== 0
}
