import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { WatchedFolders } from '../../../shared/cli/sync/watched-folders.ts'
import { eventSequencer } from '../../../workers/events.ts'
import { commandLine } from '../../support/command-line.ts'
import { startFaultyProxy } from '../../support/faulty-proxy.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'
import { startWorkers } from '../../support/workers.ts'

const service = await startTestService(t)
await startWorkers(t, service, [eventSequencer])

t.test('while a folder is watched, each change arrives on the other side at once', async (t) => {
  const ada = await service.signUp()
  const base: number = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
  const cli = commandLine(t, { origin: service.origin, token: ada.bearer ?? '' })
  const root = join(t.testdir({}), 'notes')
  mkdirSync(root)
  writeFileSync(join(root, 'Ants.md'), 'Ants\n')
  const running = cli.start(['sync', root, String(base), '--watch', '--json'])
  const until = async (isTrue: () => unknown) => {
    while (!(await isTrue())) {
      if (running.child.exitCode !== null) throw new Error(JSON.stringify(running.printed()))
      await sleep(10)
    }
  }
  const documents = async () => (await ada.get(`/documents?knowledge_base_id=${base}`)).body.data
  await until(async () => (await documents()).length === 1)
  const [{ id }] = await documents()
  const content = async () => (await ada.get(`/documents/${id}/content?format=markdown`)).body.data.content
  // The stream of events may open only now, so the next change would be found by the listing that follows.
  await until(() => running.printed().out.includes('"upload"') || running.printed().out.includes('"create"'))

  const begun = Date.now()
  writeFileSync(join(root, 'Ants.md'), readFileSync(join(root, 'Ants.md'), 'utf8').replace('Ants\n', 'Ants walk\n'))
  await until(async () => (await content()) === 'Ants walk\n')
  await ada.patch(`/documents/${id}`, { title: 'Apes', tags: ['big'] })
  await until(() => existsSync(join(root, 'Apes.md')) && readFileSync(join(root, 'Apes.md'), 'utf8').includes('- big'))
  t.notOk(existsSync(join(root, 'Ants.md')))
  writeFileSync(join(root, 'Bees.md'), 'Bees\n')
  await until(async () => (await documents()).length === 2)
  await ada.delete(`/documents/${id}`)
  await until(() => running.printed().out.includes('"withheld":[{'))
  t.ok(Date.now() - begun < 30_000, 'without waiting for the regular listing')
  running.child.kill('SIGINT')
  t.equal((await running.ended).code, 130)
  t.notOk(existsSync(join(root, '.knowledge-base', 'lock')))
})

t.test(
  'a watched folder costs no call when others write elsewhere, and outlives the answers of a strange network',
  async (t) => {
    const ada = await service.signUp()
    const base: number = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
    const folder = async (name: string): Promise<number> =>
      (await ada.post('/folders', { name, knowledge_base_id: base })).body.data.id
    const [inside, outside] = [await folder('Inside'), await folder('Outside')]
    const made = async (title: string, folder_id: number | null): Promise<string> => {
      const content = { format: 'markdown', content: 'Text' }
      return (await ada.post('/documents', { title, knowledge_base_id: base, folder_id, content })).body.data.id
    }
    const id = await made('Ants', inside)
    const elsewhere = [await made('Bees', outside), await made('Cats', null)]
    const proxy = await startFaultyProxy(t, service.origin)
    const root = join(t.testdir({}), 'notes')
    const cli = commandLine(t, { origin: proxy.origin, token: ada.bearer ?? '' })
    const running = cli.start(['sync', root, `folders/${inside}`, '--watch'])
    const isDone = async (isTrue: () => unknown) => {
      if (running.child.exitCode !== null) throw new Error(JSON.stringify(running.printed()))
      return isTrue() === true
    }
    const isWatching = () => proxy.seen.filter(({ path }) => path.includes('/tree')).length >= 2
    await until(() => isDone(() => existsSync(join(root, 'Ants.md')) && isWatching()))
    await ada.patch(`/documents/${id}`, { title: 'Apes' })
    await until(() => isDone(() => existsSync(join(root, 'Apes.md'))))

    const before = proxy.seen.length
    for (const [index, other] of elsewhere.entries())
      await ada.patch(`/documents/${other}`, { title: `Other ${index}` })
    await ada.patch(`/documents/${elsewhere[0]}`, { folder_id: null, knowledge_base_id: base })
    await ada.patch(`/documents/${id}`, { title: 'Ants' })
    await until(() => isDone(() => existsSync(join(root, 'Ants.md'))))
    const calls = proxy.seen.slice(before).map(({ path }) => path)
    t.strictSame(
      calls.filter((path) => !path.includes(id)),
      [],
      'neither the documents elsewhere nor the whole base',
    )

    proxy.choose = ({ method }) =>
      method === 'PUT'
        ? { kind: 'answer', status: 200, headers: { 'content-type': 'text/html' }, text: 'Sign in' }
        : null
    writeFileSync(join(root, 'Ants.md'), readFileSync(join(root, 'Ants.md'), 'utf8').replace('Text', 'Newer text'))
    await until(() => isDone(() => running.printed().err.includes('waiting: ')))
    running.child.kill('SIGINT')
    t.equal((await running.ended).code, 130)
  },
)

t.test('a folder that cannot be watched is looked at from time to time, not without a pause', (t) => {
  const root = t.testdir({})
  let rings = 0
  const folders = new WatchedFolders(root, () => {
    rings += 1
  })
  t.teardown(() => folders.close())
  for (let round = 0; round < 5; round += 1) folders.follow(['Missing'])
  t.equal(rings, 1)
  t.end()
})

t.test('a folder that was replaced by another of its name goes on being watched, with the folders in it', async (t) => {
  const root = t.testdir({ Birds: { Owls: {} } })
  let rings = 0
  const folders = new WatchedFolders(root, () => {
    rings += 1
  })
  t.teardown(() => folders.close())
  const all = ['Birds', 'Birds/Owls']
  folders.follow(all)
  renameSync(join(root, 'Birds'), join(root, 'Before'))
  mkdirSync(join(root, 'Birds/Owls'), { recursive: true })
  folders.follow(all)
  for (const directory of all) {
    // The events of the replacement may still arrive, but they are few.
    for (let file = 0; file < 20; file += 1) {
      const before = rings
      writeFileSync(join(root, directory, `${file}.md`), 'Text')
      await until(async () => rings > before)
      folders.follow(all)
    }
  }
  t.pass('each file has rung')
})
