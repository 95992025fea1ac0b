import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { p } from '../../document/build.ts'
import { type CollabProcess, Person, startCollab } from '../../support/collab.ts'
import { bodyOf, make } from '../../support/documents.ts'
import { type Site, startSite } from '../../support/site.ts'
import { type Test, t } from '../../support/tap.ts'

// Nothing is stored before the process is stopped.
const patient = { COLLAB_DEBOUNCE_MS: '60000', COLLAB_MAX_DEBOUNCE_MS: '60000' }

// The tests wait for stops most of the time, so they run beside each other.
t.jobs = 2

t.test('a process that is stopped without its database ends, and editors bring their text to the next', async (t) => {
  const site = await startSite(t)
  const collab = await start(t, site, patient)
  const [{ id }, { id: untouched }] = await Promise.all([make(site.client, [p('one')]), make(site.client, [p('two')])])
  const [person] = await Promise.all([open(t, site, { collab, id }), open(t, site, { collab, id: untouched })])
  person.type(' of a secret')
  await received(person)
  await site.stopPostgres()
  t.equal(await collab.stop(), 1, 'whoever stops it learns that something was not stored')
  t.strictSame(unstoredIn(collab), [id], 'exactly the documents with unstored text are named')
  t.notMatch(collab.output(), 'secret')

  await site.startPostgres()
  await start(t, site, { COLLAB_PORT: new URL(collab.url).port })
  await person.saved()
  t.match(JSON.stringify((await bodyOf(site.client, id)).blocks), 'one of a secret')
})

t.test('a process that is stopped stores what it can, and names what it cannot', async (t) => {
  const site = await startSite(t)
  const collab = await start(t, site, patient)
  const made = await Promise.all(['stored', 'locked', 'large'].map((word) => make(site.client, [p(word)])))
  const [stored, locked, large] = made.map(({ id }) => id) as [string, string, string]
  const people = await Promise.all([stored, locked, large].map((id) => open(t, site, { collab, id })))
  const [one, two, three] = people as [Person, Person, Person]
  one.type(' text')
  two.type(' text')
  three.type('x'.repeat(600_000))
  await Promise.all(people.map(received))
  const owner = new pg.Client(site.url)
  await owner.connect()
  t.teardown(() => owner.end())
  await owner.query('BEGIN')
  await owner.query('SELECT FROM documents WHERE id = $1 FOR UPDATE', [locked])
  t.equal(await collab.stop(), 1)
  t.strictSame(unstoredIn(collab).sort(), [locked, large].sort())
  t.match(JSON.stringify((await bodyOf(site.client, stored)).blocks), 'stored text')

  await owner.query('ROLLBACK')
  await start(t, site, { COLLAB_PORT: new URL(collab.url).port })
  await two.saved()
  t.match(JSON.stringify((await bodyOf(site.client, locked)).blocks), 'locked text')
  await three.told(({ type, reason }) => type === 'unsaved' && reason === 'document_too_large')
})

t.test('a process that is stopped does not try again and again what is refused', async (t) => {
  const site = await startSite(t)
  const collab = await start(t, site, patient)
  const { id } = await make(site.client, [p('large')])
  const person = await open(t, site, { collab, id })
  person.type('x'.repeat(600_000))
  await received(person)
  const before = await rollbacks(site)
  t.equal(await collab.stop(), 1)
  const tries = (await rollbacks(site)) - before
  t.ok(tries <= 4, `${tries} transactions were undone`)
  t.strictSame(unstoredIn(collab), [id])
})

async function rollbacks(site: Site): Promise<number> {
  const [counted] = await site.ask('SELECT sum(xact_rollback)::int AS transactions FROM pg_stat_database')
  return counted.transactions
}

async function start(t: Test, site: Site, settings: Record<string, string>): Promise<CollabProcess> {
  const collab = await startCollab({ ...site.env, ...settings })
  t.teardown(collab.stop)
  return collab
}

async function open(t: Test, site: Site, { collab, id }: { collab: CollabProcess; id: string }): Promise<Person> {
  const person = await Person.open({ url: collab.url, token: site.client.bearer ?? '', documentId: id })
  t.teardown(() => person.close())
  return person
}

async function received({ provider }: Person): Promise<void> {
  while (provider.hasUnsyncedChanges) await sleep(5)
}

// The documents that the log of a stopped process names as not stored.
function unstoredIn(collab: CollabProcess): string[] {
  const lines = collab.output().trim().split('\n')
  const told = lines.map((line) => JSON.parse(line)).filter(({ msg }) => /could not be stored$/.test(msg))
  return told.flatMap(({ documents = [] }) => documents)
}
