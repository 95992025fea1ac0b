import { mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { saidBy } from '../../../cli/sync/machine.ts'
import { commandLine } from '../../../support/command-line.ts'
import { startFaultyProxy } from '../../../support/faulty-proxy.ts'
import { sharedService } from '../../../support/service.ts'
import { until } from '../../../support/site.ts'
import { type Test, t } from '../../../support/tap.ts'

// SYNC_KILLS=50 kills the command more often.
const kills = Number(process.env['SYNC_KILLS'] ?? 2)

const service = await sharedService()
const ada = await service.signUp()
const proxy = await startFaultyProxy(t, service.origin)
const cli = commandLine(t, { origin: proxy.origin, token: ada.token })

/** A folder that is synced with a new knowledge base through the proxy. */
async function newFolder(name: string) {
  const base: number = (await ada.post('/knowledge-bases', { name })).body.data.id
  const root = join(realpathSync(cli.directory), name)
  mkdirSync(join(root, 'Deep', 'er'), { recursive: true })
  const make = (title: string) => {
    const content = { format: 'markdown', content: `There ${title}\n\nEnd` }
    return ada.post('/documents', { title, knowledge_base_id: base, content })
  }
  const documents = async () => {
    const { data } = (await ada.get(`/documents?knowledge_base_id=${base}&limit=100`)).body
    return data as { id: string; title: string }[]
  }
  const content = async (id: string) => {
    const { body } = await ada.get(`/documents/${id}/content?format=markdown&annotate=anchors`)
    return body.data as { content: string; version: string }
  }
  const sync = () => cli.json(['sync', root, String(base)])

  /** Kills a sync with its nth call of the service, or lets it end if it has fewer calls. */
  async function kill(calls: number) {
    let seen = 0
    const running = cli.start(['sync', root, String(base)])
    proxy.choose = () => {
      seen += 1
      // Calls that are on their way are carried out, as they are for a machine that loses its power.
      if (seen === calls) running.child.kill('SIGKILL')
      return null
    }
    await running.ended
    proxy.choose = () => null
    return running.child.signalCode === 'SIGKILL'
  }

  /** Kills a sync that has written a body, before it hears of that, as soon as the service has the body. */
  async function killAfterWrite(isThere: () => Promise<boolean>) {
    const running = cli.start(['sync', root, String(base)])
    proxy.choose = ({ method, path }) => (method === 'PUT' && path.includes('/content') ? { kind: 'cut-after' } : null)
    await until(isThere)
    running.child.kill('SIGKILL')
    await running.ended
    proxy.choose = () => null
  }

  const files = () => {
    const found = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const paths = found.map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    return paths.filter((path) => !path.startsWith('.')).sort()
  }
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(root, path), change(readFileSync(join(root, path), 'utf8')))
  return { root, make, documents, content, sync, kill, killAfterWrite, files, edit }
}

type Folder = Awaited<ReturnType<typeof newFolder>>

// Calls after which a process is killed, from the first to the last of a sync, and different in each run.
function moments(most: number): number[] {
  return Array.from({ length: kills }, (_, index) => 1 + Math.floor(((index + Math.random()) / kills) * most))
}

async function isInStep(t: Test, folder: Folder) {
  const { documents, content, files, root, sync } = folder
  t.match(await sync(), { actions: [], conflicts: [], failed: [], withheld: [] }, 'nothing is left to do')
  const texts = files().map((path) => saidBy(readFileSync(join(root, path), 'utf8')))
  const bodies = await Promise.all((await documents()).map(async ({ id }) => (await content(id)).content))
  t.equal(texts.length, bodies.length, 'there is a file for each document')
  for (const body of bodies) t.equal(texts.filter((text) => text === saidBy(body)).length, 1)
  return bodies.join('\n')
}

t.test('a first sync that is killed again and again loses nothing and makes nothing twice', async (t) => {
  const folder = await newFolder('First')
  const names = Array.from({ length: 24 }, (_, index) => `${['', 'Deep/', 'Deep/er/'][index % 3]}File ${index}`)
  for (const name of names) writeFileSync(join(folder.root, `${name}.md`), `Here ${name}\n\nEnd\n`)
  for (let n = 0; n < 8; n += 1) await folder.make(`Document ${n}`)
  const at = moments(40)
  t.comment(`killed with calls ${at.join()}`)
  for (const calls of at) await folder.kill(calls)
  await folder.sync()
  const bodies = await isInStep(t, folder)
  for (const name of names) t.equal(bodies.split(`Here ${name}\n`).length, 2, `${name} is there once`)
  for (let n = 0; n < 8; n += 1) t.equal(bodies.split(`There Document ${n}\n`).length, 2)
})

t.test('a sync of both sides that is killed again and again ends with the changes of both', async (t) => {
  const folder = await newFolder('Both')
  for (let n = 0; n < 12; n += 1) await folder.make(`Document ${n}`)
  await folder.sync()
  const ids = new Map((await folder.documents()).map(({ title, id }) => [title, id]))
  for (const n of [0, 1, 2, 3]) folder.edit(`Document ${n}.md`, (text) => text.replace('End', `Here ${n}`))
  for (const n of [2, 3, 4, 5]) {
    const id = ids.get(`Document ${n}`) ?? ''
    const { content, version } = await folder.content(id)
    const changed = { format: 'markdown', content: content.replace('There', 'Changed') }
    await ada.put(`/documents/${id}/content`, changed, { 'if-match': `"${version}"` })
  }
  await ada.patch(`/documents/${ids.get('Document 6')}`, { title: 'Renamed', tags: ['new'] })
  await ada.delete(`/documents/${ids.get('Document 7')}`)
  rmSync(join(folder.root, 'Document 8.md'))
  writeFileSync(join(folder.root, 'Deep', 'New.md'), 'Here new\n')
  await folder.make('Late')
  const at = moments(24)
  t.comment(`killed with calls ${at.join()}`)
  for (const calls of at) await folder.kill(calls)
  t.match(await folder.sync(), { conflicts: [], failed: [] })
  const bodies = await isInStep(t, folder)
  for (const n of [0, 1, 2, 3]) t.equal(bodies.split(`Here ${n}\n`).length, 2)
  for (const n of [2, 3, 4, 5]) t.equal(bodies.split(`Changed Document ${n}\n`).length, 2)
  t.match(folder.files(), [
    'Deep/New.md',
    ...[0, 1, 10, 11, 2, 3, 4, 5, 9].map((n) => `Document ${n}.md`),
    'Late.md',
    'Renamed.md',
  ])
})

for (const isAlone of [true, false]) {
  const who = isAlone ? 'nobody else' : 'somebody else'
  t.test(`a paragraph that is edited after the sync that uploaded it was killed is there once, if ${who} writes`, (t) =>
    editAfterKill(t, { isAlone }),
  )
}

async function editAfterKill(t: Test, { isAlone }: { isAlone: boolean }) {
  const folder = await newFolder(`Edited ${isAlone}`)
  await folder.make('Owls')
  await folder.sync()
  const [owls] = await folder.documents()
  folder.edit('Owls.md', (text) => `${text}\nThey hunt at dusk\n`)
  const uploaded = async () => (await folder.content(owls?.id ?? '')).content.includes('They hunt at dusk')
  await folder.killAfterWrite(uploaded)
  folder.edit('Owls.md', (text) => text.replace('at dusk', 'by night'))
  if (!isAlone) {
    for (const more of ['They sleep by day', 'They see well']) {
      const { content, version } = await folder.content(owls?.id ?? '')
      const changed = { format: 'markdown', content: `${content}\n${more}\n` }
      const { status } = await ada.put(`/documents/${owls?.id}/content`, changed, { 'if-match': `"${version}"` })
      t.equal(status, 200)
    }
  }
  t.match(await folder.sync(), { conflicts: [], failed: [] })
  const body = await isInStep(t, folder)
  t.equal(body.split('They hunt').length, 2)
  t.match(body, 'They hunt by night')
  if (!isAlone) t.match(body, /They sleep by day[\s\S]*They see well/)
}
