import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Config, readConfig } from '../config/config.ts'
import { type Database, inTransaction, openDatabase } from '../database/database.ts'
import { type CommandLine, runCommandLine, UsageError } from '../process/command-line.ts'
import { databaseUrlBesideService } from '../start/embedded-postgres.ts'
import { bootstrap, bootstrapOwner } from './bootstrap.ts'
import { revokeGrantOfToken } from './oauth/grants.ts'
import { revokeToken } from './queries.ts'
import { resolveScopes } from './scopes.ts'
import { createSignInLink, signInLinkMinutes } from './sign-in-links.ts'

const usage = `usage: npm run --silent bootstrap -- --email E [options]
       npm run --silent bootstrap -- --sign-in-link E
       npm run --silent bootstrap -- --revoke tok_…

Issues an API token for a person or a program, creating what is missing; or makes a link with which a person signs in;
or revokes a token. It prints one line of JSON, and works beside a running service. Run it with the service's settings.

  --email E              the account; it is created when nobody has that email
  --name N               name of a new account
  --password P           password for signing in; others on the machine can see it while the command runs
  --password-stdin       reads that password from standard input instead
  --workspace W          name of a workspace, created when missing; the user's own workspace otherwise
  --role R               owner (default), editor or viewer in that workspace
  --scopes S             read_write (default), read_only, or a comma-separated list
  --expires-in-days D    the token ends after so many days; never otherwise
  --sign-in-link E       makes a link that signs in the person of that email once, within ${signInLinkMinutes} minutes
  --revoke tok_…         revokes the token of that id; if it is of OAuth, the approval that it followed from
  --first-start          used by npm start: creates the owner of an empty database
  --help                 prints this

Exit codes: 0 done, 1 it failed, 2 the command line makes no sense.`

const options = {
  email: { type: 'string' },
  name: { type: 'string' },
  password: { type: 'string' },
  'password-stdin': { type: 'boolean', default: false },
  workspace: { type: 'string' },
  role: { type: 'string', default: 'owner' },
  scopes: { type: 'string', default: 'read_write' },
  'expires-in-days': { type: 'string' },
  'sign-in-link': { type: 'string' },
  revoke: { type: 'string' },
  'first-start': { type: 'boolean', default: false },
} as const

await runCommandLine({ usage, options }, async ({ values }) => {
  const password = await readPassword(values)
  const config = readConfig()
  const database = await openDatabase({ url: databaseUrlBesideService(config), kind: 'whole', poolSize: 1 })
  try {
    process.stdout.write(await execute({ database, config }, { ...values, password }))
  } finally {
    await database.end()
  }
})

type Options = Omit<CommandLine<typeof options>['values'], 'password'> & { password?: string | undefined }

// Everybody on the machine can read an argument in the list of processes, but nobody can read the standard input.
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
  if (options['sign-in-link'] !== undefined) return line(await signInLink(context, options['sign-in-link']))
  if (options.revoke !== undefined) {
    await revoke(database, options.revoke)
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

// An access token of OAuth takes its program's other tokens along: the program would renew it otherwise.
async function revoke(database: Database, tokenId: string): Promise<void> {
  const isRevoked = await inTransaction(
    database,
    async (tx) => (await revokeGrantOfToken(tx, tokenId)) || (await revokeToken(tx, tokenId)),
  )
  if (!isRevoked) throw new Error(`there is no token ${tokenId}`)
}

async function signInLink({ database, config }: { database: Database; config: Config }, email: string) {
  const link = await createSignInLink({ db: database, config }, email.trim())
  if (link === null) throw new Error(`nobody has the email ${email.trim()}`)
  return link
}

// The token is written to a file before it is printed, so that a start that ends in between does not lose the token.
async function firstStart(account: { database: Database; pepper: string }, config: Config): Promise<string> {
  if (config.production) return ''
  const owner = await bootstrapOwner(account)
  if (owner === null) return ''
  const { scopes: _all, expires_at: _never, ...kept } = owner
  await writeFile(join(config.DATA_DIR, 'bootstrap.json'), line(kept), { mode: 0o600 })
  const { sign_in_link, expires_at } = await signInLink({ database: account.database, config }, owner.email)
  return line({ ...kept, sign_in_link, sign_in_link_expires_at: expires_at })
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
