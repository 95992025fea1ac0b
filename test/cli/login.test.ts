import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '../support/client.ts'
import { commandLine, type Running } from '../support/command-line.ts'
import { sharedService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { signedInVisitor, type Visitor } from '../support/visitor.ts'

const service = await sharedService({ DEVICE_POLL_INTERVAL_SECONDS: '1' })
const { origin } = service
const ada = await service.signUp({ email: 'ada@example.test' })
const browser = await signedInVisitor(service, { userId: ada.user_id })

t.test('a person signs in with a browser, and signing out leaves no token behind', async (t) => {
  const person = commandLine(t)
  const login = person.start(['login', '--origin', origin])
  const code = await codeOf(login)
  t.match(login.printed().out, /^Open http:\/\/localhost:3000\/device and enter the code [A-Z-]{9}\nor open http/)
  t.match(await decide(browser, code, 'approve'), { status: 200 })
  t.match(await login.ended, { code: 0, out: new RegExp(`Signed in to ${origin} as ${ada.email}\\.\n$`) })
  t.match(await person.json(['whoami']), { user: { email: ada.email }, expires_at: Number })

  const { token } = keptLogin(person.directory, origin)
  t.notMatch(login.printed().out + login.printed().err, token, 'the token is in no output')
  t.match(await person.run(['logout']), { code: 0, out: `Signed out of ${origin}.\n` })
  t.match(await new Client({ origin, token }).get('/me'), { status: 401, body: { error: { code: 'token_revoked' } } })
  t.equal(keptLogin(person.directory, origin), undefined)
  t.match(await person.run(['logout', '--origin', origin]), { code: 4, err: /No login/ })
  t.match(await person.run(['whoami']), { code: 4 })
})

t.test('a second login on the same computer ends the token of the first, and no token of a person', async (t) => {
  const person = commandLine(t, { origin })
  const signIn = async () => {
    const login = person.start(['login'])
    await decide(browser, await codeOf(login), 'approve')
    t.match(await login.ended, { code: 0 })
    return keptLogin(person.directory, origin)?.token ?? ''
  }
  const statusOf = async (token: string) => (await new Client({ origin, token }).get('/me')).status
  const first = await signIn()
  const second = await signIn()
  t.equal(await statusOf(first), 401)
  t.equal(await statusOf(second), 200)
  await person.run(['login', '--with-token'], { input: ada.token })
  t.equal(await statusOf(second), 401)
  await signIn()
  t.equal(await statusOf(ada.token), 200, 'a token that came from elsewhere may be in use there')
})

t.test('a program reads the code as JSON, and a person who refuses ends the login', async (t) => {
  const person = commandLine(t, { origin })
  const login = person.start(['login', '--json', '--scopes', 'documents:read,knowledge-bases:read'])
  await until(async () => login.printed().out.includes('\n'))
  const code = JSON.parse(login.printed().out) as { user_code: string; verification_uri_complete: string }
  t.match(code, { verification_uri_complete: /user_code=/, expires_in: 900 })
  await decide(browser, code.user_code, 'approve')
  const { out } = await login.ended
  t.match(JSON.parse(out.split('\n')[1] ?? ''), { origin, scopes: ['documents:read', 'knowledge-bases:read'] })
  t.match(await person.run(['logout', '--forget', '--json']), {
    code: 0,
    out: `{"origin":"${origin}","revoked":false}\n`,
  })

  const refused = person.start(['login'])
  await decide(browser, await codeOf(refused), 'deny')
  t.match(await refused.ended, { code: 1, err: /denied/ })
  t.match(await person.run(['login', '--scopes', 'everything']), { code: 1, err: /scope/ })
})

t.test('a person is signed in to several services, and the last one is meant', async (t) => {
  const person = commandLine(t)
  const other = origin.replace('127.0.0.1', 'localhost')
  const input = `${ada.token}\n`
  const both = [origin, other].map((address) => person.run(['login', '--with-token', '--origin', address], { input }))
  for (const { code } of await Promise.all(both)) t.equal(code, 0)
  t.match(Object.keys(readLogins(person.directory).logins).sort(), [origin, other].sort(), 'none overwrote the other')
  await person.run(['login', '--with-token', '--origin', other], { input })
  t.match((await person.run(['whoami'])).out, `Service    ${other}\n`)
  t.match((await person.run(['whoami', '--origin', origin])).out, `Service    ${origin}\n`)
  t.match((await person.run(['whoami'], { env: { KB_ORIGIN: origin } })).out, `Service    ${origin}\n`)
  t.same(readdirSync(join(person.directory, 'knowledge-base')), ['logins.json'], 'no half of a file is left')
})

t.test('a token that the service does not know is not kept', async (t) => {
  const person = commandLine(t, { origin })
  const wrong = `${ada.token.slice(0, -4)}AAAA`
  t.match(await person.run(['login', '--with-token'], { input: wrong }), { code: 4 })
  t.match(await person.run(['login', '--with-token'], { input: 'two words' }), { code: 2 })
  t.match(await person.run(['whoami']), { code: 4 })
})

t.test('Ctrl-C ends a login that waits, and keeps nothing', async (t) => {
  const person = commandLine(t, { origin })
  const login = person.start(['login'])
  await codeOf(login)
  login.child.kill('SIGINT')
  t.match(await login.ended, { code: 130, err: '' })
  t.equal(keptLogin(person.directory, origin), undefined)
})

async function codeOf(login: Running): Promise<string> {
  const shown = () => /code ([A-Z]{4}-[A-Z]{4})\nor open http\S+\n/.exec(login.printed().out)?.[1]
  await until(async () => shown() !== undefined)
  return shown() ?? ''
}

function decide(person: Visitor, code: string, decision: string) {
  return person.submit({ page: `/device?user_code=${code}`, fields: { user_code: code, decision } })
}

type Kept = { default_origin: string | null; logins: Record<string, { token: string }> }

function readLogins(directory: string): Kept {
  try {
    return JSON.parse(readFileSync(join(directory, 'knowledge-base/logins.json'), 'utf8')) as Kept
  } catch {
    return { default_origin: null, logins: {} }
  }
}

function keptLogin(directory: string, address: string) {
  return readLogins(directory).logins[address] as { token: string }
}
