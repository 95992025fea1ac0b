import { setTimeout as sleep } from 'node:timers/promises'
import { p } from '../../document/build.ts'
import { Person, startCollab } from '../../support/collab.ts'
import { bodyOf, make } from '../../support/documents.ts'
import { startSite } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

t.test('text that is typed while the database is out of reach is kept, and stored when it is back', async (t) => {
  const site = await startSite(t)
  const collab = await startCollab(site.env)
  t.teardown(collab.stop)
  const { id } = await make(site.client, [p('one')])
  const open = () => Person.open({ url: collab.url, token: site.client.bearer ?? '', documentId: id })
  const [stays, leaves] = await Promise.all([open(), open()])
  t.teardown(() => stays.close())

  await site.stopPostgres()
  leaves.type(' of one who leaves')
  await stays.sees(([one]) => one === 'one of one who leaves')
  leaves.close()
  stays.type(' and stays')
  await stays.told(({ type, reason }) => type === 'unsaved' && reason === 'service_unavailable')
  const nobody = new Person({ url: collab.url, token: site.client.bearer ?? '', documentId: id })
  t.teardown(() => nobody.close())

  await site.startPostgres()
  await stays.saved()
  t.match(JSON.stringify((await bodyOf(site.client, id)).blocks), 'one of one who leaves and stays')
  await nobody.sees(([one]) => one === 'one of one who leaves and stays')
  t.strictSame(nobody.denials, [], 'who connects meanwhile is let in later')
})

t.test('a process does not end without its database while only it has the text of an editor who left', async (t) => {
  const site = await startSite(t)
  const env = { ...site.env, DATABASE_PATIENCE_SECONDS: '10' }
  const [holding, idle] = await Promise.all([startCollab(env), startCollab(env)])
  t.teardown(holding.stop)
  t.teardown(idle.stop)
  const { id } = await make(site.client, [p('one')])
  const person = await Person.open({ url: holding.url, token: site.client.bearer ?? '', documentId: id })
  const witness = await Person.open({ url: holding.url, token: site.client.bearer ?? '', documentId: id })

  await site.stopPostgres()
  person.type(' and gone')
  await witness.sees(([one]) => one === 'one and gone')
  person.close()
  witness.close()
  await idle.ended
  t.ok((await fetch(`${holding.origin}/healthz`)).ok, 'a process without text has ended, and the other goes on')

  await site.startPostgres()
  while (!JSON.stringify((await bodyOf(site.client, id)).blocks).includes('one and gone')) await sleep(100)
})
