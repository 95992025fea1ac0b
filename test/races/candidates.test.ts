import pg from 'pg'
import { p, text } from '../document/build.ts'
import { make, put } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'

const { signUp, url } = await startTestService(t)

t.test('candidates are those of the body that the answer names, whoever writes in the meantime', async (t) => {
  const ada = await signUp()
  for (let round = 0; round < 12; round += 1) {
    const { id } = await make(ada, [linked('first')])
    const [extraction, written] = await Promise.all([
      ada.post('/concept-candidates/extract', { document_id: id }),
      put(ada, id, [linked('second')]),
    ])
    const { source_version: version, candidates } = extraction.body.data
    const names = candidates.map(({ name }: { name: string }) => name)
    t.ok(names.includes(version === written.body.data.version ? 'second' : 'first'), `${version}: ${names}`)
    t.notOk(names.includes(version === written.body.data.version ? 'first' : 'second'), `${version}: ${names}`)
  }
})

t.test('a review that comes back from the trash while candidates are looked for is not an error', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [linked('reviewed')])
  const extract = () => ada.post('/concept-candidates/extract', { document_id: id })
  const candidates: { id: string; name: string }[] = (await extract()).body.data.candidates
  const reviewed = candidates.find(({ name }) => name === 'reviewed')?.id
  const restoring = new pg.Client(url)
  await restoring.connect()
  t.teardown(() => restoring.end())
  const { rows } = await restoring.query(
    'DELETE FROM concept_candidates c WHERE id = $1 RETURNING to_jsonb(c) - $2 AS candidate',
    [reviewed, 'pending_document_id'],
  )
  const review = { review_status: 'rejected', reviewed_at: new Date().toISOString(), knowledge_base_id: 1 }
  const candidate = { ...rows[0].candidate, ...review }
  candidate.knowledge_base_id = (await ada.get(`/documents/${id}`)).body.data.knowledge_base_id
  const columns = Object.keys(candidate).join(', ')
  await restoring.query('BEGIN')
  await restoring.query(
    `INSERT INTO concept_candidates (${columns})
     SELECT ${columns} FROM jsonb_populate_record(NULL::concept_candidates, $1)`,
    [JSON.stringify(candidate)],
  )
  const extraction = extract()
  await until(async () => {
    const waiting = await restoring.query(`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
    return waiting.rowCount === 1
  })
  await restoring.query('COMMIT')
  t.match(await extraction, { status: 201, body: { data: { created: 0 } } })
})

function linked(name: string) {
  return p(text(name, { type: 'link', attrs: { href: 'https://example.test' } }))
}
