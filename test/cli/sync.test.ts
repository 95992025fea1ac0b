import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine } from '../support/command-line.ts'
import { startFaultyProxy } from '../support/faulty-proxy.ts'
import { onlyLong } from '../support/run-options.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'

const service = await startTestService(t)
const workspace = 'zoo'
const ada = await service.signUp({ workspace })
const proxy = await startFaultyProxy(t, service.origin)
const person = commandLine(t, { origin: proxy.origin, token: ada.token })

let bases = 0

/** A new knowledge base with documents, and a folder that is synced with it. */
async function newFolder(titles: string[] = []) {
  bases += 1
  const base: number = (await ada.post('/knowledge-bases', { name: `Zoo ${bases}` })).body.data.id
  const ids = new Map<string, string>()
  for (const title of titles) {
    const content = { format: 'markdown', content: `About ${title}` }
    ids.set(title, (await ada.post('/documents', { title, knowledge_base_id: base, content })).body.data.id)
  }
  const root = join(person.directory, `zoo-${bases}`)
  const titlesThere = async () => {
    const { data } = (await ada.get(`/documents?knowledge_base_id=${base}&limit=100`)).body
    return (data as { title: string }[]).map(({ title }) => title).sort()
  }
  const edit = (name: string, from: string, to: string) => {
    const path = join(root, `${name}.md`)
    writeFileSync(path, readFileSync(path, 'utf8').replace(from, to))
  }
  const rewrite = async (title: string, text: string) => {
    const id = ids.get(title)
    const { content, version } = (await ada.get(`/documents/${id}/content?format=markdown&annotate=anchors`)).body.data
    const changed = { format: 'markdown', content: content.replace(`About ${title}`, text) }
    await ada.put(`/documents/${id}/content`, changed, { 'if-match': `"${version}"` })
  }
  const files = () => readdirSync(root).filter((name) => name.endsWith('.md'))
  return { base, root, place: String(base), ids, titlesThere, edit, rewrite, files }
}

// Everything below a folder with the times of its last change.
function stateOf(root: string): string[] {
  const paths = readdirSync(root, { recursive: true }).map((path) => join(root, String(path)))
  return [root, ...paths].sort().map((path) => `${path} ${statSync(path).mtimeMs}`)
}

t.test('a dry run shows what would happen, and changes nothing on either side', async (t) => {
  const { root, place, titlesThere, edit, rewrite } = await newFolder(['Ants', 'Bees', 'Cows'])
  const first = await person.json(['sync', join(root, 'missing'), place, '--dry-run'])
  t.match(first, { dry_run: true, actions: [{ action: 'download', path: 'Ants.md' }, {}, {}], left_alone: [] })
  t.throws(() => statSync(root), 'not even the folder is made')
  mkdirSync(root)
  t.match(await person.run(['sync', root, place, '--dry-run']), { code: 0, out: /download +Ants\.md\n/ })
  t.strictSame(readdirSync(root), [])

  await person.json(['sync', root, place])
  edit('Ants', 'About Ants', 'Ants walk')
  rmSync(join(root, 'Cows.md'))
  writeFileSync(join(root, 'Dogs.md'), 'Dogs\n')
  await rewrite('Bees', 'Bees fly')
  const before = stateOf(root)
  const { code, out } = await person.run(['sync', root, '--dry-run'])
  t.equal(code, 1, 'a deletion of one of three is left out')
  for (const line of [/upload +Ants/, /download +Bees/, /create +Dogs/, /not done +trash Cows/]) t.match(out, line)
  t.match(out, '3 would be done')
  t.strictSame(stateOf(root), before)
  t.strictSame(await titlesThere(), ['Ants', 'Bees', 'Cows'])
  t.match(await person.json(['sync', root, '--yes']), { dry_run: false, actions: { length: 4 }, withheld: [] })
  t.strictSame(await titlesThere(), ['Ants', 'Bees', 'Dogs'])
})

t.test('the exit code tells a script whether the sides are in step, and why not', onlyLong, async (t) => {
  const { base, root, place, edit, rewrite } = await newFolder(['Ants', 'Bees'])
  t.match(await person.run(['sync', root]), { code: 2, err: /was never synced/ })
  t.match(await person.run(['sync', root, '999999999']), { code: 5 })
  t.match(await person.run(['sync', root, place]), { code: 0, out: /2 done\n/ })
  t.match(await person.run(['sync', root, place]), { code: 0, out: 'Everything is in step.\n' })
  const other = await newFolder()
  t.match(await person.run(['sync', root, other.place]), { code: 2, err: /is synced with/ })

  edit('Bees', 'document_id', 'owner: [Ada\ndocument_id')
  t.match(await person.run(['sync', root]), { code: 1, out: /failed +Bees\.md/ })
  edit('Bees', 'owner: [Ada\n', '')
  edit('Ants', 'About Ants', 'Ants walk')
  await rewrite('Ants', 'Ants fly')
  const conflict = await person.run(['sync', root, '--json'])
  t.equal(conflict.code, 3)
  t.match(JSON.parse(conflict.out), { conflicts: [{ path: 'Ants.md', copy: /^Ants\.conflict-/ }], failed: [] })
  t.match(await person.run(['sync', root]), { code: 0 }, 'a conflict is told once')

  const { token } = await service.signUp({ role: 'viewer', workspace })
  edit('Bees', 'About Bees', 'Bees fly')
  t.match(await person.run(['sync', root], { env: { KB_TOKEN: token } }), { code: 4, out: /failed +Bees\.md/ })
  t.match(await person.run(['sync', root], { env: { KB_TOKEN: `${token.slice(0, -4)}AAAA` } }), { code: 4, out: '' })
  await ada.delete(`/knowledge-bases/${base}`, { confirm_id: base })
  const gone = await person.run(['sync', root, '--yes', '--json'])
  t.match({ ...gone, err: JSON.parse(gone.err) }, { code: 5, out: '', err: { error: { status: 404 } } })
  t.match(readFileSync(join(root, 'Bees.md'), 'utf8'), 'Bees fly', 'what was not stored stays in the file')
})

t.test('a conflict is told although an error ends the sync', async (t) => {
  const { root, place, edit, rewrite } = await newFolder(['Ants'])
  await person.json(['sync', root, place])
  edit('Ants', 'About Ants', 'Ants walk')
  await rewrite('Ants', 'Ants fly')
  writeFileSync(join(root, 'Bees.md'), 'Bees\n')
  const error = { type: 'authentication_error', code: 'invalid_token', message: 'The token has been revoked.' }
  const answer = {
    headers: { 'content-type': 'application/json' },
    text: JSON.stringify({ error, request_id: 'req_1' }),
  }
  proxy.choose = ({ method, path }) =>
    method === 'POST' && path === '/api/v1/documents' ? { kind: 'answer', status: 401, ...answer } : null
  const { code, out, err } = await person.run(['sync', root, '--json'])
  proxy.choose = () => null
  t.equal(code, 4)
  t.match(JSON.parse(out), { conflicts: [{ path: 'Ants.md', copy: /^Ants\.conflict-/ }] })
  t.match(JSON.parse(err), { error: { code: 'invalid_token' } })
})

t.test('two processes never sync one folder at a time, and a killed process is no obstacle', onlyLong, async (t) => {
  const { root, place, titlesThere } = await newFolder(['Ants'])
  const watching = person.start(['sync', root, place, '--watch'])
  await until(async () => watching.printed().out.includes('done'))
  const second = await person.run(['sync', root, '--json'])
  t.match({ ...second, err: JSON.parse(second.err) }, { code: 1, err: { error: { code: 'sync_in_progress' } } })
  t.match(second.err, `${watching.child.pid}`)
  t.match(await person.run(['sync', root, '--dry-run']), { code: 0 }, 'a look is allowed')
  watching.child.kill('SIGKILL')
  await watching.ended
  for (const name of ['Bees', 'Cows', 'Dogs']) writeFileSync(join(root, `${name}.md`), `About ${name}\n`)
  const together = await Promise.all([1, 2, 3].map(() => person.run(['sync', root])))
  t.ok(together.some(({ code }) => code === 0))
  t.match(await person.run(['sync', root]), { code: 0, out: 'Everything is in step.\n' })
  t.strictSame(await titlesThere(), ['Ants', 'Bees', 'Cows', 'Dogs'])
})

t.test(
  'a folder or a base that is suddenly empty deletes nothing on the other side without --yes',
  onlyLong,
  async (t) => {
    const titles = Array.from({ length: 12 }, (_, index) => `Animal ${index + 10}`)
    const { root, place, titlesThere, files } = await newFolder(titles)
    await person.json(['sync', root, place])
    proxy.choose = ({ method, path }) => {
      if (method !== 'GET' || !path.startsWith('/api/v1/documents?')) return null
      const text = JSON.stringify({ data: [], page: { cursor: null, next_cursor: null, has_more: false } })
      return { kind: 'answer', status: 200, headers: { 'content-type': 'application/json' }, text }
    }
    const emptied = await person.run(['sync', root, '--json'])
    proxy.choose = () => null
    t.equal(emptied.code, 1)
    t.match(JSON.parse(emptied.out), { actions: [], withheld: { length: 12 } })
    t.equal(files().length, 12)
    t.match(await person.run(['sync', root]), { code: 0, out: 'Everything is in step.\n' })

    for (const name of files()) rmSync(join(root, name))
    const { code, out } = await person.run(['sync', root])
    t.equal(code, 1)
    t.match(out, /not done +trash Animal 10\.md\n/)
    t.match(out, '12 deletions are more than 10 % of all documents. Nothing was deleted; --yes deletes them.')
    t.strictSame(await titlesThere(), titles)

    rmSync(root, { recursive: true })
    mkdirSync(root)
    t.match(await person.run(['sync', root, '--yes']), { code: 2 }, 'a folder that is not mounted has no place')
    t.match(await person.json(['sync', root, place, '--yes']), { actions: { length: 12 } })
    t.equal(files().length, 12)
    for (const name of files().slice(2)) rmSync(join(root, name))
    t.match(await person.json(['sync', root, '--yes']), { actions: { length: 10 }, withheld: [] })
    t.strictSame(await titlesThere(), titles.slice(0, 2))
  },
)

t.test('a lost connection during a rename, a move or a new tag does not end the sync', async () => {
  const { root, place, base, ids, titlesThere, edit } = await newFolder(['Ants', 'Bees', 'Cows'])
  const folder = (await ada.post('/folders', { name: 'Old', knowledge_base_id: base })).body.data.id
  await ada.patch(`/documents/${ids.get('Cows')}`, { folder_id: folder })
  await person.json(['sync', root, place])
  renameSync(join(root, 'Ants.md'), join(root, 'Apes.md'))
  edit('Bees', 'document_id', 'tags: [big]\ndocument_id')
  renameSync(join(root, 'Old'), join(root, 'New'))
  const cut = new Set<string>()
  const kinds = ['cut-after', 'cut-before'] as const
  proxy.choose = ({ method, path }) => {
    if (method !== 'PATCH' || cut.has(path)) return null
    cut.add(path)
    return { kind: kinds[cut.size % 2] ?? 'cut-after' }
  }
  const { failed } = await person.json(['sync', root, place])
  proxy.choose = () => null
  t.strictSame(failed, [])
  t.equal(cut.size, 3)
  t.strictSame(await titlesThere(), ['Apes', 'Bees', 'Cows'])
  t.strictSame((await ada.get(`/documents/${ids.get('Bees')}`)).body.data.tags, ['big'])
  t.equal((await ada.get(`/folders/${folder}`)).body.data.name, 'New')
  t.strictSame((await person.json(['sync', root, place])).actions, [], 'nothing is left to do')
})
