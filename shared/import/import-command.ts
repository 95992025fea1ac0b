import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { KnowledgeBase, type Retry } from '../client/client.ts'
import { type CommandLine, exitFailed, runCommandLine, UsageError } from '../process/command-line.ts'
import { importSource, isForPerson, patience } from './import.ts'
import { type ImportResult, ProgressDisplay } from './run.ts'

const usage = `usage: npm run --silent import -- <export.zip or folder> [options]

Loads an export, or a folder or zip of Markdown files, into a running service. A source with a manifest.json is read as
an export. The result is one line of JSON on standard output; all else is told on standard error. An import that was
interrupted goes on when the same command is given again.

  --url URL             the service; ORIGIN of the environment, else http://localhost:3000
  --token TOKEN         a token that may write; TOKEN of the environment, and for a service on this machine
                        also the one in DATA_DIR/bootstrap.json
  --knowledge-base ID   an existing knowledge base to import into; a new one is made otherwise
  --state FILE          where an interrupted import is noted; <source>.import-state otherwise
  --again               imports everything as new, although it was imported before
  --list-skipped        names every file that is skipped, and why
  --help                prints this

Exit codes: 0 all was imported, 1 something was not, 2 the command line makes no sense.`

const progress = new ProgressDisplay(process.stderr)

const options = {
  url: { type: 'string' },
  token: { type: 'string' },
  'knowledge-base': { type: 'string' },
  state: { type: 'string' },
  again: { type: 'boolean', default: false },
  'list-skipped': { type: 'boolean', default: false },
} as const

await runCommandLine({ usage, options, words: { least: 1, most: 1 }, explain }, async ({ values, words }) => {
  const result = await run(String(words[0]), values)
  process.stdout.write(`${JSON.stringify(result)}\n`)
  if (result.failed.length > 0) process.exitCode = exitFailed
})

type Values = CommandLine<typeof options>['values']

function run(path: string, values: Values): Promise<ImportResult> {
  const origin = originOf(values.url ?? process.env['ORIGIN'] ?? `http://localhost:${process.env['PORT'] || 3000}`)
  const order = {
    path,
    origin,
    knowledgeBase: knowledgeBaseOf(values['knowledge-base']),
    state: values.state,
    again: values.again,
    listsSkipped: values['list-skipped'],
  }
  const userAgent = 'knowledge-base-documents-import/1 (import)'
  const client = new KnowledgeBase({
    origin,
    token: tokenOf(values.token, origin),
    userAgent,
    onRetry: tellWait,
    ...patience,
  })
  return importSource(order, { client, progress })
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

// The token of the owner is for the service on this machine, and is never sent to another machine.
function tokenOf(given: string | undefined, origin: string): string {
  const token = given ?? process.env['TOKEN']
  if (token) return token
  if (!isLoopback(new URL(origin).hostname)) {
    throw new UsageError(`a token for ${origin} is needed: TOKEN in the environment, or --token`)
  }
  const kept = join(process.env['DATA_DIR'] || '.data', 'bootstrap.json')
  if (existsSync(kept)) return (JSON.parse(readFileSync(kept, 'utf8')) as { token: string }).token
  throw new UsageError('a token is needed: --token, or TOKEN in the environment')
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host)
}

function tellWait({ delay }: Retry): void {
  if (delay >= 5000) progress.tell(`waiting ${Math.round(delay / 1000)} s for the service`)
}

// Errors that the person can act on are printed without a stack.
function explain(error: unknown): string {
  if (isForPerson(error)) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
