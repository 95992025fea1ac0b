import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { p } from '../document/build.ts'
import { type CollabProcess, Person, startCollab } from '../support/collab.ts'
import { bodyOf, make } from '../support/documents.ts'
import { startApi } from '../support/processes.ts'
import { onlyLong } from '../support/run-options.ts'
import { startTestService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'

const service = await startTestService(t)
const env = { DATABASE_URL: service.url, DATA_DIR: service.config.DATA_DIR }
const ada = await service.signUp()

async function open(t: Test, collab: CollabProcess, documentId: string): Promise<Person> {
  const person = await Person.open({ url: collab.url, token: ada.bearer ?? '', documentId })
  t.teardown(() => person.close())
  return person
}

const stored = async (id: string) => JSON.stringify((await bodyOf(ada, id)).blocks)

t.test('a process that is stopped stores what was typed, and its editors go on elsewhere', onlyLong, async (t) => {
  const slow = { ...env, COLLAB_DEBOUNCE_MS: '60000', COLLAB_MAX_DEBOUNCE_MS: '60000' }
  const first = await startCollab(slow)
  t.teardown(first.stop)
  const documents = await Promise.all([make(ada, [p('one')]), make(ada, [p('two')])])
  const people = await Promise.all(documents.map(({ id }) => open(t, first, id)))
  for (const person of people) person.type(' typed')
  while (people.some(({ provider }) => provider.hasUnsyncedChanges)) await sleep(5)
  t.equal(await first.stop(), 0, first.output())
  for (const { id } of documents) t.match(await stored(id), ' typed')

  const next = await startCollab({ ...env, COLLAB_PORT: new URL(first.url).port })
  t.teardown(next.stop)
  for (const person of people) {
    person.type(' again')
    await person.saved()
  }
  for (const { id } of documents) t.match(await stored(id), ' typed again')
})

t.test('a killed process loses nothing that it called saved, and editors bring back the rest', async (t) => {
  const killed = await startCollab(env)
  t.teardown(killed.stop)
  const { id } = await make(ada, [p('one')])
  const person = await open(t, killed, id)
  person.type(' saved')
  await person.saved()
  // A lock on the document keeps the process from storing more before it is killed.
  const holder = new pg.Client(service.url)
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN')
  await holder.query('SELECT FROM documents WHERE id = $1 FOR UPDATE', [id])
  person.type(' unsaved')
  while (person.provider.hasUnsyncedChanges) await sleep(5)
  killed.signal('SIGKILL')
  await killed.ended
  await holder.query('ROLLBACK')
  t.match(await stored(id), 'one saved')
  t.notMatch(await stored(id), 'unsaved', 'the kill came before the commit')

  const next = await startCollab({ ...env, COLLAB_PORT: new URL(killed.url).port })
  t.teardown(next.stop)
  await person.saved()
  t.match(await stored(id), 'one saved unsaved')
})

t.test('editors that connect through the API get through to the next process after a kill', onlyLong, async (t) => {
  const killed = await startCollab({ ...env, COLLAB_DEBOUNCE_MS: '60000', COLLAB_MAX_DEBOUNCE_MS: '60000' })
  t.teardown(killed.stop)
  const COLLAB_PORT = new URL(killed.url).port
  const api = await startApi({ ...env, COLLAB_HAND_ON: 'true', COLLAB_PORT })
  t.teardown(api.stop)
  const { id } = await make(ada, [p('one')])
  const person = await Person.open({
    url: `${api.origin.replace('http', 'ws')}/collab`,
    token: ada.bearer ?? '',
    documentId: id,
  })
  t.teardown(() => person.close())
  person.type(' before')
  while (person.provider.hasUnsyncedChanges) await sleep(5)
  killed.signal('SIGKILL')
  await killed.ended
  while (person.provider.isSynced) await sleep(5)
  person.type(' between')

  const next = await startCollab({ ...env, COLLAB_PORT })
  t.teardown(next.stop)
  await person.saved()
  t.match(await stored(id), 'one before between')
})

t.test('people on two processes edit one document', onlyLong, async (t) => {
  const [left, right] = await Promise.all([startCollab(env), startCollab(env)])
  t.teardown(left.stop)
  t.teardown(right.stop)
  const { id } = await make(ada, [p('one')])
  const [first, second] = await Promise.all([open(t, left, id), open(t, right, id)])
  first.type(' left')
  second.type('right ')
  const isAll = ([one = '']: string[]) => one.includes('left') && one.includes('right')
  await Promise.all([first.sees(isAll), second.sees(isAll)])
  await Promise.all([first.saved(), second.saved()])
  t.strictSame(first.body, second.body)
  t.strictSame((await bodyOf(ada, id)).blocks, first.body.content)
})
