import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { openFolder } from './folder-source.ts'
import { planOf } from './plan-of.ts'
import { Progress } from './progress.ts'
import { type ImportResult, runImport } from './run.ts'
import { ImportError, ServiceClient } from './service-client.ts'
import { type Source, SourceError } from './source.ts'
import { ImportState } from './state.ts'
import { Refused } from './steps.ts'
import { openZip } from './zip-source.ts'

const usage = `usage: npm run import -- <export.zip or folder> [--url http://localhost:3000] [--token svc_tok_…]
         [--knowledge-base ID] [--state FILE]
       A folder or zip with a manifest.json is read as an export, any other as Markdown files. Without --token, TOKEN of
       the environment is used, or the owner's of DATA_DIR/bootstrap.json. An import that was interrupted goes on when
       the same command is given again.`

/** A command line that makes no sense: answered with the reason and the usage. */
class UsageError extends Error {}

const progress = new Progress(process.stderr)

try {
  const result = await run(process.argv.slice(2))
  process.stdout.write(`${JSON.stringify(result)}\n`)
  if (result.failed.length > 0) process.exitCode = 1
} catch (error) {
  progress.tell(explain(error))
  process.exitCode = 1
}

async function run(args: string[]): Promise<ImportResult> {
  const { path, options } = readOptions(args)
  const origin = originOf(options.url ?? process.env['ORIGIN'] ?? `http://localhost:${process.env['PORT'] || 3000}`)
  const source = await openSource(path)
  try {
    const plan = await planOf(source)
    for (const warning of plan.warnings) progress.tell(warning)
    const knowledgeBase = knowledgeBaseOf(options['knowledge-base'])
    const client = new ServiceClient({ origin, token: tokenOf(options.token), onWait: tellWait })
    const target = { origin, fingerprint: plan.fingerprint, knowledgeBase }
    const state = await ImportState.open(options.state ?? `${resolve(path)}.import-state`, target)
    if (state.isResumed) progress.tell('going on with an import that was interrupted')
    if (knowledgeBase !== null && state.knowledgeBase === null) await state.note({ knowledgeBase })
    let result: ImportResult | undefined
    try {
      result = await runImport({ plan, client, state, progress })
    } finally {
      await state.close({ finished: result?.failed.length === 0 })
    }
    return result
  } finally {
    await source.close()
  }
}

function readOptions(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        url: { type: 'string' },
        token: { type: 'string' },
        'knowledge-base': { type: 'string' },
        state: { type: 'string' },
      },
    })
    const [path, ...more] = positionals
    if (path === undefined || more.length > 0) throw new Error('one zip or folder is to be named')
    return { path, options: values }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

async function openSource(path: string): Promise<Source> {
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

// What a person can do something about is said without a stack.
function explain(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n${usage}`
  if (error instanceof ImportError || error instanceof SourceError || error instanceof Refused) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
