import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { type Config, readConfig } from '../config.ts'
import { type Database, openDatabase } from '../database.ts'
import { databaseUrlBesideService } from '../dev/database-url.ts'
import { bootstrap, bootstrapOwner } from './bootstrap.ts'
import { revokeToken } from './queries.ts'
import { resolveScopes } from './scopes.ts'

const usage = `usage: npm run --silent bootstrap -- --email E [--name N] [--password P | --password-stdin]
         [--workspace W] [--role owner|editor|viewer] [--scopes read_write|read_only|<comma list>] [--expires-in-days D]
       npm run --silent bootstrap -- --revoke tok_…
       (--first-start, used by npm start: creates the owner of an empty database)`

/** A command line that makes no sense: answered with the reason and the usage. */
class UsageError extends Error {}

try {
  process.stdout.write(await run(process.argv.slice(2)))
} catch (error) {
  const reason = error instanceof Error ? error.message : String(error)
  process.stderr.write(error instanceof UsageError ? `${reason}\n${usage}\n` : `${reason}\n`)
  process.exitCode = 1
}

async function run(args: string[]): Promise<string> {
  const options = readOptions(args)
  const password = await readPassword(options)
  const config = readConfig()
  const database = await openDatabase({ url: databaseUrlBesideService(config), kind: 'whole', poolSize: 1 })
  try {
    return await execute({ database, config }, { ...options, password })
  } finally {
    await database.end()
  }
}

type Options = ReturnType<typeof readOptions>

function readOptions(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        email: { type: 'string' },
        name: { type: 'string' },
        password: { type: 'string' },
        'password-stdin': { type: 'boolean', default: false },
        workspace: { type: 'string' },
        role: { type: 'string', default: 'owner' },
        scopes: { type: 'string', default: 'read_write' },
        'expires-in-days': { type: 'string' },
        revoke: { type: 'string' },
        'first-start': { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

// An argument can be read by everybody on the machine, in the list of processes; what comes by standard input cannot.
async function readPassword(options: Options): Promise<string | undefined> {
  if (!options['password-stdin']) return options.password
  if (options.password !== undefined) throw new UsageError('--password and --password-stdin exclude each other')
  const password = (await text(process.stdin)).replace(/\r?\n$/, '')
  if (password === '') throw new UsageError('--password-stdin found no password in the standard input')
  return password
}

async function execute(context: { database: Database; config: Config }, options: Options): Promise<string> {
  const { database, config } = context
  const account = { database, pepper: config.TOKEN_PEPPER }
  if (options['first-start']) return firstStart(account, config)
  if (options.revoke !== undefined) {
    if (!(await revokeToken(database, options.revoke))) throw new Error(`there is no token ${options.revoke}`)
    return line({ token_id: options.revoke, revoked: true })
  }
  return line(
    await bootstrap(account, {
      email: requireEmail(options.email),
      name: options.name ?? null,
      password: options.password ?? null,
      workspace: options.workspace ?? null,
      role: requireRole(options.role),
      scopes: requireScopes(options.scopes),
      expiresInDays: requireDays(options['expires-in-days']),
    }),
  )
}

// The token is written before it is printed: a start that is cut off in between has not lost it.
async function firstStart(account: { database: Database; pepper: string }, config: Config): Promise<string> {
  if (config.production) return ''
  const owner = await bootstrapOwner(account)
  if (owner === null) return ''
  const { scopes: _all, expires_at: _never, ...kept } = owner
  await writeFile(join(config.DATA_DIR, 'bootstrap.json'), line(kept), { mode: 0o600 })
  return line(kept)
}

function requireEmail(email: string | undefined): string {
  if (email === undefined || !/^[^\s@]+@[^\s@]+$/.test(email)) throw new UsageError('--email takes an email address')
  return email
}

function requireRole(role: string) {
  if (role === 'owner' || role === 'editor' || role === 'viewer') return role
  throw new UsageError('--role takes owner, editor or viewer')
}

function requireScopes(text: string) {
  const asked = text === 'read_write' || text === 'read_only' ? text : text.split(',').map((item) => item.trim())
  const { scopes, unknown } = resolveScopes(asked)
  if (unknown.length > 0) throw new UsageError(`--scopes has unknown scopes: ${unknown.join(', ')}`)
  return scopes
}

function requireDays(days: string | undefined): number | null {
  if (days === undefined) return null
  if (!/^[0-9]{1,4}(\.[0-9]+)?$/.test(days)) throw new UsageError('--expires-in-days takes a number of days')
  return Number(days)
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`
}
