import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type CommandLine, exitFailed, runCommandLine, UsageError } from '../process/command-line.ts'
import type { Plan } from './plan.ts'
import { type ImportResult, type ImportRun, ProgressDisplay, planOf, Refused, runImport } from './run.ts'
import { FinalRefusal, ImportError, serviceClient } from './service-client.ts'
import { type ImportSource, openFolder, openZip, SourceError, skipReasons } from './source.ts'
import { type ImportEnd, ImportState } from './state.ts'

const usage = `usage: npm run --silent import -- <export.zip or folder> [options]

Loads an export, or a folder or zip of Markdown files, into a running service. A source with a manifest.json is read as
an export. The result is one line of JSON on standard output; all else is told on standard error. An import that was
interrupted goes on when the same command is given again.

  --url URL             the service; ORIGIN of the environment, else http://localhost:3000
  --token TOKEN         a token that may write; TOKEN of the environment, else the one in DATA_DIR/bootstrap.json
  --knowledge-base ID   an existing knowledge base to import into; a new one is made otherwise
  --state FILE          where an interrupted import is noted; <source>.import-state otherwise
  --list-skipped        names every file that is skipped, and why
  --help                prints this

Exit codes: 0 all was imported, 1 something was not, 2 the command line makes no sense.`

const progress = new ProgressDisplay(process.stderr)

const options = {
  url: { type: 'string' },
  token: { type: 'string' },
  'knowledge-base': { type: 'string' },
  state: { type: 'string' },
  'list-skipped': { type: 'boolean', default: false },
} as const

await runCommandLine({ usage, options, words: { least: 1, most: 1 }, explain }, async ({ values, words }) => {
  const result = await run(String(words[0]), values)
  process.stdout.write(`${JSON.stringify(result)}\n`)
  if (result.failed.length > 0) process.exitCode = exitFailed
})

type Values = CommandLine<typeof options>['values']

async function run(path: string, values: Values): Promise<ImportResult> {
  const origin = originOf(values.url ?? process.env['ORIGIN'] ?? `http://localhost:${process.env['PORT'] || 3000}`)
  const knowledgeBase = knowledgeBaseOf(values['knowledge-base'])
  const token = tokenOf(values.token)
  const source = await openSource(path)
  try {
    const plan = await planOf(source)
    tellPlan(plan, values['list-skipped'])
    const target = { origin, fingerprint: plan.fingerprint, knowledgeBase }
    const state = await ImportState.open(values.state ?? `${resolve(path)}.import-state`, target)
    if (state.resumedFrom !== null) tellResumed(state)
    const client = serviceClient({ origin, token, onWait: tellWait })
    return await importInto(state, { plan, client })
  } finally {
    await source.close()
  }
}

async function importInto(state: ImportState, { plan, client }: Pick<ImportRun, 'plan' | 'client'>) {
  let end: ImportEnd = 'interrupted'
  try {
    // This call fails when the service is absent or the token is unknown, so the person learns of it before the import
    // begins.
    await client.GET('/me')
    const result = await runImport({ plan, client, state, progress })
    if (result.failed.length === 0) end = 'finished'
    return result
  } catch (error) {
    if (error instanceof FinalRefusal || error instanceof Refused) end = 'refused'
    throw error
  } finally {
    await state.close(end)
  }
}

function tellPlan({ warnings, skipped }: Plan, listsSkipped: boolean): void {
  for (const warning of warnings) progress.tell(warning)
  if (listsSkipped) {
    for (const { name, reason } of skipped) progress.tell(`skipped: ${JSON.stringify(name)}: ${skipReasons[reason]}`)
  } else if (skipped.length > 0) {
    progress.tell(`${skipped.length} files and folders of the source are skipped; --list-skipped names them`)
  }
}

function tellResumed({ path, resumedFrom, folders, documents }: ImportState): void {
  const made = `${folders.size} folders and ${documents.size} documents exist`
  progress.tell(`going on with an import that began ${resumedFrom}: ${made}. To begin anew, remove ${path}`)
}

async function openSource(path: string): Promise<ImportSource> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new SourceError(`there is no ${path}`)
  return found.isDirectory() ? openFolder(path) : openZip(path)
}

function originOf(url: string): string {
  const parsed = URL.parse(url)
  if (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:') throw new UsageError('--url takes an http(s) URL')
  return parsed.origin
}

function knowledgeBaseOf(id: string | undefined): number | null {
  if (id === undefined) return null
  if (!/^[1-9][0-9]{0,15}$/.test(id)) throw new UsageError('--knowledge-base takes the id of a knowledge base')
  return Number(id)
}

function tokenOf(given: string | undefined): string {
  const token = given ?? process.env['TOKEN']
  if (token) return token
  const kept = join(process.env['DATA_DIR'] || '.data', 'bootstrap.json')
  if (existsSync(kept)) return (JSON.parse(readFileSync(kept, 'utf8')) as { token: string }).token
  throw new UsageError('a token is needed: --token, or TOKEN in the environment')
}

function tellWait(seconds: number): void {
  if (seconds >= 5) progress.tell(`waiting ${Math.round(seconds)} s for the service`)
}

// Errors that the person can act on are printed without a stack.
function explain(error: unknown): string {
  if (error instanceof ImportError || error instanceof SourceError || error instanceof Refused) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
