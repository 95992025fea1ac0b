import { workersOf } from '../../workers/types.ts'
import { p } from '../document/build.ts'
import { make } from '../support/documents.ts'
import { connectMcp, textOf, tokensOf } from '../support/mcp.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const service = await startTestService(t)
await startWorkers(t, service, workersOf(['changes']))
const { origin, signUp } = service

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
const structured = (result: { structuredContent?: unknown }): any => result.structuredContent
const long = '象'.repeat(110)

t.test('an agent that follows the cursor of a document gets every change, however many there are', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('text')])
  const { call } = await connectMcp(t, { origin, token: ada.token })
  let { cursor } = structured(await call('changes', { document_id: id }))
  for (let n = 0; n < 30; n += 1) {
    const markdown = `a${n} ${long}\n\nb${n} ${long}`
    await ada.post(`/documents/${id}/content/edit`, { edits: [{ op: 'append', markdown }] })
  }
  await until(async () => structured(await call('changes', { document_id: id, cursor })).freshness === 'current')
  const seen: string[] = []
  for (let more = true; more; ) {
    const answer = await call('changes', { document_id: id, cursor })
    t.ok(tokensOf(answer) <= 4000)
    t.match(structured(answer), { complete: true, omitted: 0, sync_required: false }, textOf(answer))
    const { changes, has_more } = structured(answer)
    seen.push(...changes.map(({ text_excerpt }: { text_excerpt: string }) => text_excerpt.split(' ')[0]))
    more = has_more && seen.length < 100
    cursor = structured(answer).cursor
  }
  t.strictSame(
    seen.sort(),
    Array.from({ length: 30 }, (_, n) => [`a${n}`, `b${n}`])
      .flat()
      .sort(),
  )
})

t.test('a write that is larger than an answer is said to be, and is read again', async (t) => {
  const ada = await signUp()
  const { id } = await make(ada, [p('text')])
  const { call } = await connectMcp(t, { origin, token: ada.token })
  const { cursor } = structured(await call('changes', { document_id: id }))
  const markdown = Array.from({ length: 60 }, () => long).join('\n\n')
  await ada.post(`/documents/${id}/content/edit`, { edits: [{ op: 'append', markdown }] })
  await until(async () => structured(await call('changes', { document_id: id, cursor })).freshness === 'current')
  const answer = await call('changes', { document_id: id, cursor })
  t.match(structured(answer), { complete: false, sync_required: true })
  t.equal(structured(answer).changes.length + structured(answer).omitted, 60)
  t.match(textOf(answer), /left out.*Read the document again/)
})

t.test('an agent that follows the cursor of changes gets every document, however long the titles', async (t) => {
  const ada = await signUp()
  const { knowledge_base_id } = (await ada.get(`/documents/${(await make(ada, [p('x')])).id}`)).body.data
  for (let n = 0; n < 24; n += 1) await make(ada, [p('x')], { title: `${n} ${long}` })
  const { call } = await connectMcp(t, { origin, token: ada.token })
  const seen = new Set<string>()
  let cursor: string | undefined
  do {
    const answer = structured(await call('changes', { knowledge_base_id, cursor }))
    t.equal(answer.omitted, 0)
    for (const { id } of answer.documents) seen.add(id)
    cursor = answer.cursor ?? undefined
  } while (cursor !== undefined)
  t.equal(seen.size, 25)
})
