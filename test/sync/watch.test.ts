import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { eventSequencer } from '../../workers/events.ts'
import { commandLine } from '../support/command-line.ts'
import { startTestService } from '../support/service.ts'
import { startWorkers } from '../support/workers.ts'

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
  await until(() => readFileSync(join(root, 'Ants.md'), 'utf8').includes('document_id'))
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
