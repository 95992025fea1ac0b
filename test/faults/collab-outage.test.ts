import t from 'tap'
import { p } from '../body/build.ts'
import { Person, startCollab } from '../support/collab.ts'
import { bodyOf, make } from '../support/documents.ts'
import { startSite } from '../support/site.ts'

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
