import { setTimeout as sleep } from 'node:timers/promises'
import { p } from '../document/build.ts'
import type { Client } from '../support/client.ts'
import { Person, startCollab } from '../support/collab.ts'
import { make } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

t.test('a workspace whose text cannot be stored leaves room for the text of others', async (t) => {
  const service = await startTestService(t)
  const collab = await startCollab({
    DATABASE_URL: service.url,
    DATA_DIR: service.config.DATA_DIR,
    COLLAB_DEBOUNCE_MS: '60000',
    COLLAB_MAX_DEBOUNCE_MS: '60000',
  })
  t.teardown(() => collab.signal('SIGKILL'))
  const open = async (client: Client) => {
    const { id } = await make(client, [p('one')])
    const person = await Person.open({ url: collab.url, token: client.bearer ?? '', documentId: id })
    t.teardown(() => person.close())
    return person
  }
  const [ada, bob] = await Promise.all([service.signUp({ workspace: 'Zoo' }), service.signUp({ workspace: 'Farm' })])
  const [people, other] = await Promise.all([Promise.all(Array.from({ length: 7 }, () => open(ada))), open(bob)])

  // Two pastes of a document are below its own limit, and thirteen of a workspace below 64 MiB.
  const paste = 'x'.repeat(5_000_000)
  const pastes = [...people, ...people]
  for (const person of pastes.slice(0, 13)) {
    person.type(paste)
    await received(person)
  }
  const [last] = pastes.slice(13) as [Person]
  t.notOk(last.messages.some(({ type }) => type === 'unsaved'))
  last.type(paste)
  await last.told(({ type, reason }) => type === 'unsaved' && reason === 'service_unavailable')

  other.type(paste)
  await received(other)
  t.notOk(other.messages.some(({ type }) => type === 'unsaved'))
  t.match(await (await fetch(`${collab.origin}/metrics`)).text(), /^svc_collab_pending_bytes 7000\d{4}$/m)
})

async function received({ provider }: Person): Promise<void> {
  while (provider.hasUnsyncedChanges) await sleep(5)
}
