import { setTimeout as sleep } from 'node:timers/promises'
import { p } from '../../document/build.ts'
import type { Client } from '../../support/client.ts'
import { Person, startCollab } from '../../support/collab.ts'
import { make } from '../../support/documents.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'

const service = await startTestService(t)
const collab = await startCollab({
  DATABASE_URL: service.url,
  DATA_DIR: service.config.DATA_DIR,
  COLLAB_DEBOUNCE_MS: '60000',
  COLLAB_MAX_DEBOUNCE_MS: '60000',
})
t.teardown(() => collab.signal('SIGKILL'))

// Two pastes of a document are below its own limit, three of a user below 16 MiB, and thirteen of a workspace below 64
// MiB.
const paste = 'x'.repeat(5_000_000)

t.test('a workspace whose text cannot be stored leaves room for the text of others', async (t) => {
  const other = await open(await service.signUp({ workspace: 'Farm' }))
  const users = await Promise.all(Array.from({ length: 5 }, () => service.signUp({ workspace: 'Zoo' })))
  const people = await Promise.all([...users, ...users, ...users].map(open))
  for (const person of people.slice(0, 13)) {
    person.type(paste)
    await received(person)
  }
  const [last] = people.slice(13) as [Person]
  t.notOk(last.messages.some(({ type }) => type === 'unsaved'))
  last.type(paste)
  await last.told(({ type, reason }) => type === 'unsaved' && reason === 'service_unavailable')

  other.type(paste)
  await received(other)
  t.notOk(other.messages.some(({ type }) => type === 'unsaved'))
  t.match(await (await fetch(`${collab.origin}/metrics`)).text(), /^svc_collab_pending_bytes 7000\d{4}$/m)
})

t.test('a user whose text cannot be stored leaves room for others of the workspace', async (t) => {
  const [ada, bob] = [await service.signUp({ workspace: 'Mill' }), await service.signUp({ workspace: 'Mill' })]
  const people = await Promise.all([ada, ada, ada, ada].map(open))
  for (const person of people.slice(0, 3)) {
    person.type(paste)
    await received(person)
  }
  const [last] = people.slice(3) as [Person]
  last.type(paste)
  await last.told(({ type, reason }) => type === 'unsaved' && reason === 'service_unavailable')
  const other = await open(bob)
  other.type(paste)
  await received(other)
  t.notOk(other.messages.some(({ type }) => type === 'unsaved'))
})

async function open(client: Client): Promise<Person> {
  const { id } = await make(client, [p('one')])
  const person = await Person.open({ url: collab.url, token: client.bearer ?? '', documentId: id })
  t.teardown(() => person.close())
  return person
}

async function received({ provider }: Person): Promise<void> {
  while (provider.hasUnsyncedChanges) await sleep(5)
}
