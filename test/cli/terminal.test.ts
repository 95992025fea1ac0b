import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { columnsOf, jsonText, manyLines, oneLine } from '../../shared/cli/terminal/terminal-text.ts'
import { anyCharacter } from '../support/any-character.ts'
import { commandLine } from '../support/command-line.ts'
import { compiledCode, root } from '../support/processes.ts'
import { sharedService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'

const service = await sharedService()
const ada = await service.signUp({ email: 'ada@example.test' })
const person = commandLine(t, { origin: service.origin, token: ada.token })

// Clears the screen, asks the terminal for its name, starts a C1 sequence, turns the direction of letters.
const hostile = 'a\u001b[2Jb\u001b]0;owned\u0007c\u009b5nd\u202ee\u2066f\rg'
const harmless = 'a\\u001b[2Jb\\u001b]0;owned\\u0007c\\u009b5nd\\u202ee\\u2066f\\u000dg'
const dangerous = /(?!\n|\t)[\p{Cc}\p{Bidi_Control}]/u

// `script` of Debian runs a command in a pseudo-terminal.
const hasScript = spawnSync('script', ['--version']).status === 0
const skip = hasScript ? false : 'there is no program named script, which makes pseudo-terminals'

t.test('no character of a text can command a terminal', async (t) => {
  t.equal(oneLine(hostile), harmless)
  t.equal(oneLine('two\nlines\tand a tab'), 'two lines and a tab')
  t.equal(manyLines(`two\r\nlines\t${hostile}`), `two\nlines\t${harmless}`)
  t.strictSame(JSON.parse(jsonText({ [hostile]: hostile }, 2)), { [hostile]: hostile })
  t.notMatch(jsonText({ [hostile]: [hostile, '\u007f\u2028'] }, 2), dangerous)
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (anything) => {
      const shown = [oneLine(anything), manyLines(anything), jsonText([anything], 1)]
      return !shown.some((text) => dangerous.test(text)) && JSON.parse(jsonText([anything]))[0] === anything
    }),
  )
  t.equal(columnsOf(['象', { text: '👩‍👩‍👧‍👦e\u0301', style: 'bold' }]), 5)
})

t.test('hostile titles and texts reach nobody’s terminal raw', { skip }, async (t) => {
  const base = (await ada.post('/knowledge-bases', { name: 'Zoo \u001b[31m\u202e' })).body.data
  const content = { format: 'markdown', content: 'Text \u001b]52;c;aGk=\u0007 \u009b2J end\n' }
  const body = { title: 'Title \u001b[2J\u0090 \u2067', knowledge_base_id: base.id, content }
  const { id } = (await ada.post('/documents', body)).body.data
  const commands = [
    ['bases'],
    ['bases', '--json'],
    ['tree', String(base.id)],
    ['cat', id],
    ['cat', id, '--json'],
    ['cat', `nothing ${'\u001b'}[2J`],
  ]
  for (const words of commands) {
    const { out } = await inTerminal(words, { NO_COLOR: '1' })
    t.notMatch(out.replaceAll('\r\n', '\n'), dangerous, words.join(' '))
    t.notMatch(out, '\u001b', words.join(' '))
  }
  t.match((await inTerminal(['cat', id])).out, 'Text \\u001b]52;c;aGk=\\u0007 \\u009b2J end')
  t.equal((await person.run(['cat', id])).out, content.content, 'a file gets the text exactly as it is')
})

t.test('colours are for terminals, and NO_COLOR takes them away', { skip }, async (t) => {
  t.match((await inTerminal(['bases'])).out, '\u001b[1mID')
  t.notMatch((await inTerminal(['bases'], { NO_COLOR: '1' })).out, '\u001b')
  t.notMatch((await inTerminal(['bases'], { TERM: 'dumb' })).out, '\u001b')
  t.notMatch((await person.run(['bases'])).out, '\u001b')
  t.match((await inTerminal(['bases', '--json'])).out, /^\[\r?\n {2}\{/, 'people read indented JSON')
})

t.test('a conflict opens the editor again on a terminal, until the person has chosen', { skip }, async (t) => {
  const base = (await ada.post('/knowledge-bases', { name: 'Conflicts' })).body.data
  const content = { format: 'markdown', content: 'First.\n' }
  const { id } = (await ada.post('/documents', { title: 'x', knowledge_base_id: base.id, content })).body.data
  // The first time the editor writes, and somebody else does, too. The second time it keeps the own version.
  const { directory } = person
  const write = `curl -fsS -X POST ${service.origin}/api/v1/documents/${id}/content/edit -H 'Authorization: Bearer ${ada.token}' -H 'Content-Type: application/json' --data '{"edits":[{"op":"replace","find":"First","replace":"Theirs"}]}' >/dev/null`
  const EDITOR = `f() { if [ -e ${directory}/again ]; then cp "$1" ${directory}/seen; sed -i -e '/^[<=>]\\{7\\}/d' -e /Theirs/d "$1"; else touch ${directory}/again; sed -i s/First/Mine/ "$1"; ${write}; fi; }; f`
  const { code, out } = await inTerminal(['edit', id], { EDITOR })
  t.equal(code, 0)
  t.match(out, 'Somebody else has changed 1 block')
  t.match(out, 'Stored.')
  t.match(readFileSync(join(directory, 'seen'), 'utf8'), '<<<<<<< yours\nMine.\n=======\nTheirs.\n>>>>>>> theirs')
  t.equal((await person.run(['cat', id])).out, 'Mine.\n')
})

t.test('an editor that returns at once does not lose what is written in its window', { skip }, async (t) => {
  const base = (await ada.post('/knowledge-bases', { name: 'Windows' })).body.data
  const content = { format: 'markdown', content: 'First.\n' }
  const { id } = (await ada.post('/documents', { title: 'x', knowledge_base_id: base.id, content })).body.data
  const { code, out } = await inTerminal(['edit', id], { EDITOR: 'true' })
  t.equal(code, 1)
  t.match(out, 'The editor ended at once')
  const file = /--resume (\S+)/.exec(out)?.[1] ?? ''
  writeFileSync(file, readFileSync(file, 'utf8').replace('First', 'An hour of work'))
  t.match(await person.run(['edit', '--resume', file], { env: { EDITOR: 'true' } }), { code: 0, out: 'Stored.\n' })
  t.equal((await person.run(['cat', id])).out, 'An hour of work.\n')
})

t.test('a reader that has seen enough is no error', async (t) => {
  const words = [process.execPath, join(root, 'shared/cli/main.ts'), 'whoami']
  const command = `"$@"; echo "ended with $?" >&2`
  const child = spawn('sh', ['-c', `{ ${command}; } | true`, 'sh', ...words], {
    cwd: person.directory,
    env: {
      PATH: process.env['PATH'],
      ...compiledCode,
      KB_ORIGIN: service.origin,
      KB_TOKEN: ada.token,
      HOME: person.directory,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.equal((await text(child.stderr)).trim(), 'ended with 0')
})

t.test('Ctrl-C while an export is on its way leaves no half of a file', async (t) => {
  const slow = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/zip' }).write('PK half')
  }).listen(0)
  await once(slow, 'listening')
  t.teardown(() => slow.closeAllConnections())
  t.teardown(() => slow.close())
  const { port } = slow.address() as AddressInfo
  const running = person.start(['export', '1', 'slow.zip'], { env: { KB_ORIGIN: `http://127.0.0.1:${port}` } })
  const parts = () => readdirSync(person.directory).filter((name) => name.startsWith('slow.zip'))
  await until(async () => parts().length === 1)
  running.child.kill('SIGINT')
  t.match(await running.ended, { code: 130, out: '', err: '' })
  t.same(parts(), [])
  t.notOk(existsSync(join(person.directory, 'slow.zip')))
})

// Runs a command in a pseudo-terminal. What it prints on both streams arrives together.
async function inTerminal(words: string[], env: Record<string, string> = {}): Promise<{ code: number; out: string }> {
  const quoted = [process.execPath, join(root, 'shared/cli/main.ts'), ...words].map((word) => `'${word}'`).join(' ')
  const child = spawn('script', ['-qec', quoted, '/dev/null'], {
    cwd: person.directory,
    env: {
      PATH: process.env['PATH'],
      ...compiledCode,
      HOME: person.directory,
      TMPDIR: person.directory,
      SHELL: '/bin/sh',
      TERM: 'xterm-256color',
      KB_ORIGIN: service.origin,
      KB_TOKEN: ada.token,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  return { code: code as number, out }
}
