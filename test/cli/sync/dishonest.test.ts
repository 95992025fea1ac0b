import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { LocalWriter } from '../../../shared/cli/sync/local-write.ts'
import { Client } from '../../support/client.ts'
import { commandLine } from '../../support/command-line.ts'
import { t } from '../../support/tap.ts'
import { Machine } from './machine.ts'

/* A service that wants to write where it must not: what it answers becomes names and texts of files. */

const version = `sha256:${'0'.repeat(64)}`
const honest = { id: 'doc_1', title: 'Zoo', tags: [], properties: {}, folder_id: null, version, knowledge_base_id: 1 }

t.test('nothing that a dishonest service answers leads out of the folder', async (t) => {
  const inFolder = (name: unknown, id: unknown = 5, parent_id: unknown = null) => ({
    type: 'folder',
    id,
    name,
    parent_id,
  })
  const twin = { ...honest, id: 'doc_2' }
  const cases: [name: string, documents: object[], folders: object[]][] = [
    ['an id with a path', [honest, { ...twin, id: 'doc_x/../../../escaped' }], []],
    ['an id of another kind', [honest, { ...twin, id: ['doc_x/../../../escaped'] }], []],
    ['a title of another kind', [{ ...honest, title: { trim: '../../escaped' } }], []],
    [
      'a folder id with a path',
      [{ ...honest, folder_id: 'x/../../../escaped' }],
      [inFolder('A', 'x/../../../escaped')],
    ],
    ['a folder name of another kind', [{ ...honest, folder_id: 5 }], [inFolder(['../../escaped'])]],
    ['a version with a line end', [{ ...honest, version: 'x\r\ny: z' }], []],
  ]
  for (const [name, documents, folders] of cases) {
    const one = new Machine(t, await dishonest(t, documents, folders), { base: 1 })
    const around = () => readdirSync(dirname(one.root)).filter((entry) => entry.includes('escaped'))
    await t.rejects(one.sync(), { code: 'unexpected_answer' }, name)
    t.strictSame([around(), one.files()], [[], []])
  }
  const rings = [inFolder('A', 5, 6), inFolder('B', 6, 5), inFolder('C', 7, 7)]
  const one = new Machine(t, await dishonest(t, [honest, { ...twin, folder_id: 6 }], rings), { base: 1, folder: 5 })
  t.match(await one.sync(), { failed: [] }, 'folders that lie in each other end')
})

t.test('another document than the one that was asked for is refused', async (t) => {
  const one = new Machine(t, await dishonest(t, [], []), { base: 1 })
  one.write('A.md', 'Text')
  await t.rejects(one.sync(), { code: 'unexpected_answer' })
  t.strictSame(one.read('A.md'), 'Text')
})

t.test('no path out of the folder and no hidden path is written', async (t) => {
  const root = t.testdir({ inside: { 'A.md': 'Text' }, outside: {} })
  symlinkSync(join(root, 'outside'), join(root, 'inside', 'linked'))
  const writer = new LocalWriter(join(root, 'inside'))
  for (const path of [
    '../B.md',
    'x/../../B.md',
    '/B.md',
    '.git/hooks/B.md',
    '.knowledge-base/state.jsonl',
    'B\0.md',
    '',
  ]) {
    await t.rejects(writer.write(path, 'Text', null), { message: /is not inside the synced folder/ }, path)
  }
  await t.rejects(writer.write('linked/B.md', 'Text', null), { message: 'linked is not a folder' })
  t.strictSame(readdirSync(join(root, 'outside')), [])
})

t.test('a state folder that is or has a symbolic link is refused, and nothing behind it changes', async (t) => {
  const { origin } = await dishonest(t, [honest], [])
  const cli = commandLine(t, { origin, token: 'svc_tok_any' })
  const outside = t.testdir({ 'precious.txt': 'mine' })
  for (const link of ['.knowledge-base', '.knowledge-base/texts', '.knowledge-base/replaced', '.knowledge-base/lock']) {
    const root = join(cli.directory, 'linked')
    mkdirSync(dirname(join(root, link)), { recursive: true })
    symlinkSync(outside, join(root, link))
    const { code, err } = await cli.run(['sync', root, '1'])
    t.match({ code, err }, { code: 2, err: /symbolic link/ }, link)
    t.strictSame(readdirSync(outside), ['precious.txt'])
    rmSync(root, { recursive: true })
  }
  const root = join(cli.directory, 'linked')
  mkdirSync(root)
  writeFileSync(join(root, '.knowledge-base'), 'a file')
  t.match(await cli.run(['sync', root, '1']), { code: 2 })
  t.notOk(existsSync(join(root, 'Zoo.md')))
})

/** A client of a service that lists these documents and folders, and answers each other call with another document. */
async function dishonest(t: { teardown: (end: () => void) => void }, documents: object[], folders: object[]) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://service')
    const answer = () => {
      if (pathname.endsWith('/tree')) return { children: folders }
      if (pathname.endsWith('/content')) return { content: 'Text\n', version }
      return pathname.endsWith('/documents') && request.method === 'GET' ? documents : honest
    }
    const body = JSON.stringify({ data: answer(), request_id: 'req_1', page: { has_more: false } })
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return new Client({ origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'svc_tok_any' })
}
