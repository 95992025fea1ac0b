import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine } from '../support/command-line.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const service = await sharedService()
const ada = await service.signUp({ email: 'ada@example.test', workspace: 'Zoo & Co' })

t.test('a person and a program learn who is signed in, and which knowledge bases there are', async (t) => {
  const base = (await ada.post('/knowledge-bases', { name: 'Elephants 象' })).body.data
  const { run, json } = commandLine(t, { origin: service.origin, token: ada.token })
  const me = await run(['whoami'])
  t.match(me, { code: 0, err: '' })
  t.match(
    me.out,
    new RegExp(
      `^Service +http://127\\.0\\.0\\.1:\\d+\nUser +ada\\S* <${ada.email}>\nWorkspace +Zoo & Co .*\\(owner, ws_`,
    ),
  )
  t.strictSame(await json(['whoami']), (await ada.get('/me')).body.data)
  t.strictSame(await json(['bases']), (await ada.get('/knowledge-bases')).body.data)
  const { out } = await run(['bases'])
  t.match(out, new RegExp(`^ID +DOCUMENTS  FOLDERS  NAME\n${base.id} +0 +0 +Elephants 象\n$`))
})

t.test('a wrong command line ends with 2 and says what was meant', async (t) => {
  const { run } = commandLine(t, { origin: service.origin, token: ada.token })
  const wrong = [
    { words: ['bsaes'], told: "unknown command 'bsaes'\n(Did you mean bases?)" },
    { words: ['bases', '--jsno'], told: "unknown option '--jsno'\n(Did you mean --json?)" },
    { words: ['edit'], told: 'Name a document' },
    { words: ['bases', 'more'], told: 'too many arguments' },
    { words: ['bases', '--origin', 'nowhere'], told: '--origin takes the address of a service' },
  ]
  for (const { words, told } of wrong) {
    const { code, out, err } = await run(words)
    t.match({ code, out }, { code: 2, out: '' }, words.join(' '))
    t.match(err, told)
  }
  const { code, err } = await run(['bsaes', '--json'])
  t.equal(code, 2)
  t.match(JSON.parse(err), { error: { code: 'usage', message: "unknown command 'bsaes' (Did you mean bases?)" } })
})

t.test('every command explains itself with an example, and the help names the exit codes', async (t) => {
  const { run } = commandLine(t)
  const help = await run(['--help'])
  t.match(help, { code: 0, err: '' })
  t.match(help.out, 'Exit codes:\n  0 done, 1 failed')
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  t.match(await run(['--version']), { code: 0, out: `${version}\n` })
  const listed = /Commands:\n([\s\S]*?)\n\n/.exec(help.out)?.[1] ?? ''
  const names = [...listed.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help')
  t.ok(names.length > 4, listed)
  for (const name of names) {
    const { code, out } = await run(['help', name])
    t.equal(code, 0, name)
    t.match(out, `Usage: knowledge-base ${name}`)
    t.match(out, `$ knowledge-base ${name}`, `${name} has an example`)
  }
})

t.test('whoever is not signed in, or may not, is told how to sign in', async (t) => {
  const nobody = commandLine(t)
  const lost = await nobody.run(['whoami'])
  t.match(lost, { code: 4, out: '' })
  t.match(lost.err, 'knowledge-base login --origin')
  t.match((await nobody.run(['whoami', '--origin', service.origin])).err, `not signed in to ${service.origin}`)
  const wrong = commandLine(t, { origin: service.origin, token: `${ada.token.slice(0, -4)}AAAA` })
  const refused = await wrong.run(['whoami', '--json'])
  t.equal(refused.code, 4)
  t.match(JSON.parse(refused.err), { error: { code: 'invalid_token', status: 401, request_id: /^req_/ } })
  t.notMatch(refused.err, wrong.directory)
  t.notMatch(refused.err, ada.token.slice(0, -4), 'the token is in no output')
  const elsewhere = commandLine(t, { origin: 'https://documents.example', token: ada.token })
  const kept = await elsewhere.run(['whoami', '--origin', service.origin])
  t.match(kept, { code: 4, err: /not signed in to/ }, 'a token for one service is not sent to another')
})

t.test('a service that is not there is an error, not an empty answer', async (t) => {
  const { run } = commandLine(t, { origin: 'http://127.0.0.1:1', token: ada.token })
  const { code, out, err } = await run(['bases', '--json'])
  t.match({ code, out }, { code: 1, out: '' })
  t.match(JSON.parse(err), { error: { code: 'connection_failed' } })
})

t.test('the file of logins is read by nobody else, even where its folder was open', async (t) => {
  const { run, directory } = commandLine(t, { origin: service.origin })
  const folder = join(directory, 'knowledge-base')
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  const signedIn = await run(['login', '--with-token'], { input: `${ada.token}\n` })
  t.match(signedIn, { code: 0, out: `Signed in to ${service.origin} as ${ada.email}.\n` })
  t.equal(statSync(folder).mode & 0o777, 0o700)
  t.equal(statSync(join(folder, 'logins.json')).mode & 0o777, 0o600)
  t.match((await run(['whoami'])).out, ada.email)
  writeFileSync(join(folder, 'logins.json'), 'half a file with svc_tok_secret')
  const broken = await run(['whoami'])
  t.equal(broken.code, 1)
  t.match(broken.err, 'Remove the file and sign in again')
  t.notMatch(broken.err, 'svc_tok')
})
