import { spawn } from 'node:child_process'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { KnowledgeBaseError } from '../../client/errors.ts'
import { mayPass } from '../../client/events.ts'
import { type Cli, type Context, examples } from '../frame/command.ts'
import { type Connection, connectAs } from '../frame/connection.ts'
import { Failure } from '../frame/failures.ts'
import type { Login } from '../frame/logins.ts'
import { isUnencrypted } from '../frame/origins.ts'

type Options = { scopes?: string; open?: boolean; withToken?: boolean }

/** `login`: gets a token from a person with a browser, and keeps it. */
export function registerLogin({ program, run }: Cli): void {
  program
    .command('login')
    .summary('sign in to a service')
    .description(
      'Signs in to the service that --origin names: shows a code and the address where you confirm it in a browser. ' +
        'The token is kept in a file that only you can read. The service is the one that later commands mean.',
    )
    .option('--scopes <scopes>', 'read_write, read_only, or single scopes with commas between them', 'read_write')
    .option('--open', 'open the address in your browser')
    .option('--with-token', 'read a token from standard input in place of asking for one')
    .addHelpText(
      'after',
      examples(
        ['login --origin https://documents.example', 'sign in with a browser'],
        ['login --origin https://documents.example --scopes read_only', 'sign in for reading'],
        ['login --origin https://documents.example --with-token < token.txt', 'keep a token that you have'],
      ),
    )
    .action((options: Options) => run((context) => login(context, options)))
}

async function login(context: Context, options: Options): Promise<void> {
  const { out, logins } = context
  const origin = await context.origin()
  if (isUnencrypted(origin)) out.note({ text: 'warning: ', style: 'yellow' }, `tokens travel to ${origin} unencrypted.`)
  const token = options.withToken ? await readToken() : await askForToken(context, { origin, options })
  const { data: me } = await connectAs(token, { origin, out }).service.api.GET('/me')
  const login = { token, email: me.user.email, saved_at: Date.now(), requested: options.withToken !== true }
  let former: Login | undefined
  await logins.update((kept) => {
    former = kept.logins[origin]
    return { default_origin: origin, logins: { ...kept.logins, [origin]: login } }
  })
  await endFormer(context, { origin, former, token })
  const answer = { origin, user: me.user, scopes: me.scopes, expires_at: me.expires_at }
  out.item(answer, () => out.line(`Signed in to ${origin} as `, { text: me.user.email, style: 'bold' }, '.'))
}

// Revokes the token of the earlier login, which nothing uses any more. The new login stands even where this fails.
async function endFormer({ out }: Context, input: { origin: string; former: Login | undefined; token: string }) {
  const { origin, former, token } = input
  if (former?.requested !== true || former.token === token) return
  const { api } = connectAs(undefined, { origin, out }).service
  await api.POST('/auth/revoke', { body: { token: former.token } }).catch(() => {
    out.note({ text: 'warning: ', style: 'yellow' }, 'the token of the earlier login could not be revoked.')
  })
}

async function readToken(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk
    if (text.length > 10_000) break
  }
  const token = text.trim()
  if (/^\S+$/.test(token)) return token
  throw new Failure('usage', 'invalid_token', { message: 'Standard input is not one token.' })
}

async function askForToken(context: Context, input: { origin: string; options: Options }): Promise<string> {
  const { out, interrupts } = context
  const connection = connectAs(undefined, { origin: input.origin, out })
  const scopes = input.options.scopes ?? 'read_write'
  const { data: code } = await connection.service.api.POST('/auth/device/code', {
    body: {
      client_name: `knowledge-base on ${hostname()}`.slice(0, 80),
      scopes: /^read_(only|write)$/.test(scopes) ? scopes : scopes.split(','),
    },
  })
  const { user_code, verification_uri, verification_uri_complete, expires_in } = code
  out.item({ user_code, verification_uri, verification_uri_complete, expires_in }, () => {
    out.line('Open ', { text: verification_uri, style: 'cyan' }, ' and enter the code ', {
      text: user_code,
      style: 'bold',
    })
    out.line(`or open ${verification_uri_complete}`)
  })
  if (input.options.open) openInBrowser(verification_uri_complete)
  out.progress('waiting until you confirm the code …')
  const token = await pollForToken(connection, { ...code, signal: interrupts.signal })
  out.endProgress()
  return token
}

// Asks for the token as often as the service allows, until the person has decided. A connection may fail meanwhile.
async function pollForToken(
  { service }: Connection,
  code: { device_code: string; interval: number; expires_in: number; signal: AbortSignal },
): Promise<string> {
  const { device_code, interval, expires_in, signal } = code
  const endsAt = Date.now() + expires_in * 1000
  for (let seconds = interval; ; ) {
    await sleep(seconds * 1000, undefined, { signal })
    try {
      return (await service.api.POST('/auth/device/token', { body: { device_code } })).data.access_token
    } catch (error) {
      if (!(error instanceof KnowledgeBaseError)) throw error
      if (error.code === 'slow_down') seconds = Number(error.details?.interval ?? seconds + 5)
      else if (error.code !== 'authorization_pending' && !(mayPass(error) && Date.now() < endsAt)) throw error
    }
  }
}

// Only an address of the web is handed to the system, and never through a shell.
function openInBrowser(address: string): void {
  if (!/^https?:\/\//.test(address)) return
  const opener = { darwin: ['open'], win32: ['rundll32', 'url.dll,FileProtocolHandler'] }[process.platform as string]
  const [command = '', ...words] = opener ?? ['xdg-open']
  const child = spawn(command, [...words, address], { stdio: 'ignore', detached: true })
  // Without a browser the address that was shown is enough.
  child.on('error', () => undefined)
  child.unref()
}
