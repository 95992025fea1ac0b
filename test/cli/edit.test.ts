import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { type CommandLine, commandLine, type Running } from '../support/command-line.ts'
import { startFaultyProxy } from '../support/faulty-proxy.ts'
import { onlyLong } from '../support/run-options.ts'
import { sharedService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'

const service = await sharedService()
const ada = await service.signUp({ email: 'ada@example.test', workspace: 'Zoo' })
const bob = await service.signUp({ email: 'bob@example.test', workspace: 'Zoo' })
const base = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data

t.test('an edit is stored when the editor ends, and blocks keep their ids', async (t) => {
  const { id, blocks } = await made('# Water\n\nA hundred litres.\n')
  const person = commandLine(t, { origin: service.origin, token: ada.token })
  const EDITOR = 'sed -i s/hundred/thousand/'
  t.match(await person.run(['edit', `svc://doc/${id}`], { env: { EDITOR } }), { code: 0, out: 'Stored.\n', err: '' })
  t.equal(await markdownOf(id), '# Water\n\nA thousand litres.\n')
  t.same(await blocksOf(id), blocks)
  t.match(await person.run(['edit', id], { env: { EDITOR: 'true' } }), { code: 0, out: 'Nothing has changed.\n' })
  t.match(await person.json(['edit', id], { env: { VISUAL: 'sed -i s/thousand/few/', EDITOR: 'false' } }), {
    document_id: id,
    changed: true,
    version: /^sha256:/,
  })
  t.same(leftovers(person), [], 'what is stored leaves no file')
})

t.test('what others have written meanwhile is merged, and nothing of either side is lost', async (t) => {
  const { id } = await made('First.\n\nSecond.\n')
  const person = commandLine(t, { origin: service.origin, token: ada.token })
  const edit = openEdit(person, id)
  change(await edit.file(), 'Second.', 'Second, by Ada.')
  await replaceText(id, 'First.', 'First, by Bob.')
  edit.close()
  t.match(await edit.running.ended, { code: 0, out: 'Stored.\n' })
  t.equal(await markdownOf(id), 'First, by Bob.\n\nSecond, by Ada.\n')
})

t.test('a block that both have changed is shown in both versions, and stored when the person has chosen', async (t) => {
  const { id } = await made('First.\n\nSecond.\n')
  const person = commandLine(t, { origin: service.origin, token: ada.token })
  const edit = openEdit(person, id, ['--json'])
  change(await edit.file(), 'Second.', 'Second, by Ada.')
  await replaceText(id, 'Second.', 'Second, by Bob.')
  edit.close()
  const { code, err } = await edit.running.ended
  t.equal(code, 3)
  const { error } = JSON.parse(err)
  t.match(error, { code: 'edit_conflict', details: { file: String } })
  const { file } = error.details
  t.match(readFileSync(file, 'utf8'), '<<<<<<< yours\nSecond, by Ada.\n=======\nSecond, by Bob.\n>>>>>>> theirs\n')
  t.equal(await markdownOf(id), 'First.\n\nSecond, by Bob.\n', 'nothing was overwritten')

  const undecided = await person.run(['edit', '--resume', file], { env: { EDITOR: 'sed -i s/First/Begin/' } })
  t.match(undecided, { code: 3, err: /still has the marks/ })
  const chosen = "sed -i -e '/^[<=>]\\{7\\}/d' -e '/Bob/d'"
  t.match(await person.run(['edit', '--resume', file], { env: { EDITOR: chosen } }), { code: 0, out: 'Stored.\n' })
  t.equal(await markdownOf(id), 'Begin.\n\nSecond, by Ada.\n')
  t.same(leftovers(person), [])
})

t.test('the text of a person survives a refusal and an editor that fails', async (t) => {
  const { id } = await made('First.\n')
  const person = commandLine(t, { origin: service.origin, token: ada.token })
  const edit = openEdit(person, id)
  change(await edit.file(), 'First.', 'Hours of work.')
  await bob.post('/auth/revoke', { token: ada.token })
  edit.close()
  const refused = await edit.running.ended
  t.equal(refused.code, 4)
  const file = /Your text is in (.*)\n/.exec(refused.err)?.[1] ?? ''
  t.match(readFileSync(file, 'utf8'), 'Hours of work.')
  t.match(refused.err, `knowledge-base edit --resume ${file}`)

  const failing = await person.run(['edit', '--resume', file], { env: { EDITOR: 'false', KB_TOKEN: bob.token } })
  t.match(failing, { code: 1, err: /The editor "false" ended with exit code 1/ })
  t.match(readFileSync(file, 'utf8'), 'Hours of work.')
  const missing = await person.run(['edit', '--resume', file], {
    env: { EDITOR: 'no-such-editor', KB_TOKEN: bob.token },
  })
  t.match(missing.err, /Set EDITOR/)
  const stored = await person.run(['edit', '--resume', file], { env: { EDITOR: 'true', KB_TOKEN: bob.token } })
  t.match(stored, { code: 0, out: 'Stored.\n' })
  t.equal(await markdownOf(id), 'Hours of work.\n')
  t.match(await person.run(['edit', '--resume', '/etc/hostname']), { code: 1, err: /unfinished edit/ })
  t.ok(existsSync('/etc/hostname'))
})

t.test(
  'the text of a person survives a service that has gone, and is stored when the service is back',
  onlyLong,
  async (t) => {
    const { id } = await made('First.\n')
    const sockets = new Set<Socket>()
    const way = createServer((socket) => {
      const onward = connect(Number(new URL(service.origin).port), '127.0.0.1')
      socket.pipe(onward).pipe(socket)
      socket.on('error', () => onward.destroy())
      onward.on('error', () => socket.destroy())
      sockets.add(socket)
    })
    const port = await listening(way, 0)
    t.teardown(() => way.close())
    const person = commandLine(t, { origin: `http://127.0.0.1:${port}`, token: bob.token })
    const edit = openEdit(person, id)
    change(await edit.file(), 'First.', 'Hours of work.')
    way.close()
    for (const socket of sockets) socket.destroy()
    edit.close()
    const { code, err } = await edit.running.ended
    t.equal(code, 1)
    t.match(err, /no answer from/)
    const file = /--resume (.*)\n/.exec(err)?.[1] ?? ''
    t.match(readFileSync(file, 'utf8'), 'Hours of work.')
    await listening(way, port)
    t.match(await person.run(['edit', '--resume', file], { env: { EDITOR: 'true' } }), { code: 0, out: 'Stored.\n' })
    t.equal(await markdownOf(id), 'Hours of work.\n')
    for (const socket of sockets) socket.destroy()
  },
)

t.test('Ctrl-C in the editor belongs to the editor', async (t) => {
  const { id } = await made('First.\n')
  const person = commandLine(t, { origin: service.origin, token: bob.token })
  const edit = openEdit(person, id)
  change(await edit.file(), 'First.', 'Second.')
  edit.running.child.kill('SIGINT')
  edit.close()
  t.match(await edit.running.ended, { code: 0, out: 'Stored.\n' })
  t.equal(await markdownOf(id), 'Second.\n')
})

t.test('a text whose answer was lost is stored once', async (t) => {
  const { id } = await made('First.\n')
  let puts = 0
  const lost = await startFaultyProxy(t, service.origin, ({ method }) =>
    method === 'PUT' && puts++ === 0 ? { kind: 'cut-after' } : null,
  )
  const person = commandLine(t, { origin: lost.origin, token: bob.token })
  const edit = openEdit(person, id)
  change(await edit.file(), 'First.', 'Begin.\n\nHours of work.\n\nMore work.\n\n* an item\n* another item')
  edit.close()
  t.match(await edit.running.ended, { code: 0, out: 'Stored.\n' })
  t.equal(await markdownOf(id), 'Begin.\n\nHours of work.\n\nMore work.\n\n- an item\n- another item\n')
  t.same(leftovers(person), [])
})

t.test('Ctrl-C while the text is being stored says where the text is, and a later run stores it once', async (t) => {
  const { id } = await made('First.\n\nLast.\n')
  const slow = await startFaultyProxy(t, service.origin, ({ method }) =>
    method === 'PUT' ? { kind: 'silence', bytes: 0 } : null,
  )
  const person = commandLine(t, { origin: slow.origin, token: bob.token })
  const edit = openEdit(person, id)
  change(await edit.file(), 'First.', 'First.\n\nHours of work.\n\n* an item')
  edit.close()
  await until(async () => (await markdownOf(id)).includes('Hours of work.'))
  edit.running.child.kill('SIGINT')
  const { code, err } = await edit.running.ended
  t.equal(code, 130)
  const file = /Your text is in (.*)\n/.exec(err)?.[1] ?? ''
  t.match(err, `knowledge-base edit --resume ${file}`)
  t.match(readFileSync(file, 'utf8'), 'Hours of work.')
  await replaceText(id, 'Last.', 'Last, by Ada.')
  slow.choose = () => null
  t.match(await person.run(['edit', '--resume', file], { env: { EDITOR: 'true' } }), { code: 0, out: 'Stored.\n' })
  t.equal(await markdownOf(id), 'First.\n\nHours of work.\n\n- an item\n\nLast, by Ada.\n')
  t.same(leftovers(person), [])
})

t.test('what a document cannot keep of a text is told and stays in a copy', async (t) => {
  const person = commandLine(t, { origin: service.origin, token: bob.token })
  const [note, image] = ['[//]: # (ask Bob)', '![drawing](data:image/png;base64,iVBORw0KGgo=)']
  const one = await made('First.\n\nSecond.\n')
  const EDITOR = `sed -i '$a\\\\n${note}\\n\\nLast.'`
  const told = await person.run(['edit', one.id], { env: { EDITOR } })
  t.match(told, { code: 0, out: /^Stored\. .*\n/ })
  const copy = /is in (.*)\n/.exec(told.out)?.[1] ?? ''
  t.match(readFileSync(copy, 'utf8'), note)
  t.match(await markdownOf(one.id), 'Last.')

  const two = await made('First.\n\nSecond.\n')
  const edit = openEdit(person, two.id, ['--json'])
  change(await edit.file(), 'Second.', `Second, by Bob.\n\n${image}\n`)
  await replaceText(two.id, 'First.', 'First, by Ada.')
  edit.close()
  const { code, out } = await edit.running.ended
  t.equal(code, 0)
  const { changed, copies } = JSON.parse(out)
  t.match({ changed, copies }, { changed: true, copies: [{ file: String, losses: [String] }] })
  t.match(readFileSync(copies[0].file, 'utf8'), image)
  t.match(await markdownOf(two.id), /^First, by Ada\.\n\nSecond, by Bob\.\n/)

  const three = await made('First.\n\nSecond.\n')
  const both = openEdit(person, three.id, ['--json'])
  change(await both.file(), 'Second.', `Second, by Bob.\n\n${image}\n`)
  await replaceText(three.id, 'Second.', 'Second, by Ada.')
  both.close()
  const conflict = JSON.parse((await both.running.ended).err).error
  t.match(conflict, { code: 'edit_conflict', details: { file: String, copies: [{ losses: [String] }] } })
  t.match(readFileSync(conflict.details.copies[0].file, 'utf8'), image, 'a conflict takes nothing away either')
})

t.test('letters in another encoding are not replaced by others', async (t) => {
  const { id } = await made('First.\n')
  const person = commandLine(t, { origin: service.origin, token: bob.token })
  const edit = openEdit(person, id, ['--json'])
  const file = await edit.file()
  const latin = Buffer.concat([readFileSync(file), Buffer.from('caf\u00e9\n', 'latin1')])
  writeFileSync(file, latin)
  edit.close()
  const { code, err } = await edit.running.ended
  t.match({ code, ...JSON.parse(err) }, { code: 1, error: { code: 'not_utf8', details: { file } } })
  t.same(readFileSync(file), latin, 'the text stays as it was written')
  t.equal(await markdownOf(id), 'First.\n')
})

async function listening(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function made(content: string) {
  const body = { title: 'Elephants', knowledge_base_id: base.id, content: { format: 'markdown', content } }
  const { id } = (await bob.post('/documents', body)).body.data as { id: string }
  return { id, blocks: await blocksOf(id) }
}

async function blocksOf(id: string): Promise<string[]> {
  const { data } = (await bob.get(`/documents/${id}/blocks`)).body as { data: { block_id: string }[] }
  return data.map(({ block_id }) => block_id)
}

async function markdownOf(id: string): Promise<string> {
  return (await bob.get(`/documents/${id}/content?format=markdown`)).body.data.content
}

async function replaceText(id: string, find: string, replace: string): Promise<void> {
  const { status, text } = await bob.post(`/documents/${id}/content/edit`, {
    edits: [{ op: 'replace', find, replace }],
  })
  if (status !== 200) throw new Error(text)
}

// Opens `edit` with an editor that waits until it is closed. `file` resolves when the editor is open.
function openEdit(person: CommandLine, id: string, words: string[] = []) {
  const [editor, opened, closed] = ['editor.sh', 'opened', 'closed'].map((name) => join(person.directory, name))
  writeFileSync(
    `${editor}`,
    `#!/bin/sh\nprintf %s "$1" > ${opened}\nwhile [ ! -e ${closed} ]; do sleep 0.05; done\nrm ${closed} ${opened}\n`,
  )
  chmodSync(`${editor}`, 0o755)
  const running: Running = person.start(['edit', id, ...words], { env: { EDITOR: `${editor}` } })
  return {
    running,
    async file() {
      await until(async () => existsSync(`${opened}`) && readFileSync(`${opened}`, 'utf8') !== '')
      return readFileSync(`${opened}`, 'utf8')
    },
    close: () => writeFileSync(`${closed}`, ''),
  }
}

function change(file: string, before: string, after: string): void {
  writeFileSync(file, readFileSync(file, 'utf8').replace(before, after))
}

function leftovers({ directory }: CommandLine): string[] {
  return readdirSync(directory).filter((name) => name.startsWith('knowledge-base-edit'))
}
