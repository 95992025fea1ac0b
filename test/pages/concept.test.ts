import { sql } from '../../shared/database/database.ts'
import { workersOf } from '../../workers/types.ts'
import { text } from '../document/build.ts'
import { bodyOf } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { ok } from '../support/translations.ts'
import { hiddenFields, signedInVisitor, type Visitor } from '../support/visitor.ts'
import { rewrite, startWorkers, write } from '../support/workers.ts'

const service = await startTestService(t)
const markdown = '# Food\n\nSee [Grass & \\<hay>](a.md) and [Water](b.md).'

t.test('a person accepts and rejects what was found, and sees the concepts with their evidence', async (t) => {
  const { ada, visitor } = await start()
  const { id } = await write(ada, markdown, { title: 'Elephants' })
  const page = `/d/${id}/concepts`
  t.match((await visitor.get(page)).html, 'Nobody has looked for concepts in this document yet')
  t.match(await visitor.send(page, { operation: 'extract' }), { status: 303, location: `${page}?done=extract` })
  const { html } = await visitor.get(page)
  t.match(html, 'follow from the current title and text')
  t.match(candidatesIn(html), ['Elephants', 'Grass &amp; &lt;hay&gt;', 'Water'])
  const block = (await ada.get(`/documents/${id}/content`)).body.data.document.content[1].attrs.id
  t.match(html, `href="/d/${id}#${block}"`)
  t.match(html, 'See Grass &amp; &lt;hay&gt; and Water.', 'the excerpt')
  t.notMatch(html, /<hay>/)

  t.match(await review(visitor, { page, name: 'Grass &amp; &lt;hay&gt;', operation: 'accept' }), { status: 303 })
  const { html: accepted } = await visitor.get(`${page}?done=accept`)
  t.match(accepted, 'The candidate is a concept now')
  t.match(conceptsIn(accepted), ['Grass &amp; &lt;hay&gt;'])
  t.match(accepted.split('id="concepts-accepted"')[1], `<a href="/d/${id}#${block}">“<bdi>See Grass`)
  t.match(await review(visitor, { page, name: 'Water', operation: 'reject' }), { status: 303 })
  t.strictSame(candidatesIn((await visitor.get(page)).html), ['Elephants'])
  t.strictSame(candidatesIn((await visitor.get(`${page}?status=rejected`)).html), ['Water'])
  t.match((await visitor.get(`${page}?status=accepted`)).html, / as <bdi>Grass &amp; &lt;hay&gt;<\/bdi>/)
  const { data } = (await ada.get(`/audit?document_id=${id}`)).body
  t.match(data, [
    { action: 'rejectConceptCandidate', user_id: ada.user_id },
    { action: 'acceptConceptCandidate' },
    { action: 'extractConceptCandidates' },
    { action: 'createDocument' },
  ])
})

t.test('a candidate joins the concept that has its name already', async (t) => {
  const { ada, visitor } = await start()
  const first = await write(ada, markdown, { title: 'Elephants' })
  const second = await write(ada, 'We need [WATER](c.md).', { title: 'Plants' })
  for (const { id } of [first, second]) await visitor.send(`/d/${id}/concepts`, { operation: 'extract' })
  await review(visitor, { page: `/d/${first.id}/concepts`, name: 'Water', operation: 'accept' })
  const page = `/d/${second.id}/concepts`
  const { html } = await visitor.get(page)
  t.match(html, 'Add to “<bdi>Water</bdi>”')
  const fields = fieldsOf(html, 'WATER')
  const alone = await visitor.post(page, { ...fields, operation: 'accept' })
  t.match(alone, { status: 409, html: 'A concept of this name exists already' })
  t.match(await visitor.post(page, { ...fields, operation: 'join' }), { status: 303, location: `${page}?done=join` })
  t.match(conceptsIn((await visitor.get(page)).html), ['Water'])
})

t.test('a review of what has changed meanwhile is refused in words, and changes nothing', async (t) => {
  const { ada, visitor } = await start()
  const { id } = await write(ada, markdown, { title: 'Elephants' })
  const page = `/d/${id}/concepts`
  await visitor.send(page, { operation: 'extract' })
  const { html } = await visitor.get(page)
  const [water, grass] = [fieldsOf(html, 'Water'), fieldsOf(html, 'Grass')]
  const block = (await bodyOf(ada, id)).blocks[1]
  const reworded = [text('Drink '), ...(block?.content ?? [])]
  ok(await ada.patch(`/documents/${id}/blocks/${block?.attrs.id}`, { content: reworded }))
  const stale = await visitor.get(page)
  t.match(stale.html, 'The document has changed since it was looked through')
  t.notMatch(stale.html, 'value="accept"', 'nobody is led into a refusal')
  t.match(await visitor.post(page, { ...water, operation: 'accept' }), {
    status: 409,
    html: 'The text has changed since this candidate was found',
  })
  const { stop } = await startWorkers(t, service, workersOf(['candidates']))
  await until(async () => (await visitor.get(page)).html.includes('follow from the current title and text'))
  await stop()
  const late = await visitor.post(page, { ...water, operation: 'reject' })
  t.match(late, { status: 409, html: 'This candidate has changed since you saw it' })
  t.match(await visitor.post(page, { ...fieldsOf(late.html, 'Water'), operation: 'reject' }), { status: 303 })
  const twice = await visitor.post(page, { ...water, operation: 'accept' })
  t.match(twice, { status: 409, html: 'Somebody has reviewed this candidate already' })
  const { version: _, ...unguarded } = grass
  t.equal((await visitor.post(page, { ...unguarded, operation: 'accept' })).status, 409)
  await rewrite(ada, id, 'Nothing')
  t.match(await visitor.post(page, { ...grass, candidate: 'cand_x', operation: 'reject' }), {
    status: 404,
    html: 'This candidate is no longer there',
  })
})

t.test('a form without its button, or of another document, reviews no candidate', async (t) => {
  const { ada, visitor } = await start()
  const { id } = await write(ada, markdown, { title: 'Elephants' })
  const other = await write(ada, 'Nothing')
  const page = `/d/${id}/concepts`
  await visitor.send(page, { operation: 'extract' })
  const fields = fieldsOf((await visitor.get(page)).html, 'Water')
  for (const operation of ['', 'constructor']) {
    const refused = await visitor.post(page, { ...fields, operation })
    t.match(refused, { status: 400, html: 'The form did not say what to do' }, 'nothing is accepted without its button')
  }
  for (const operation of ['accept', 'reject']) {
    const refused = await visitor.post(`/d/${other.id}/concepts`, { ...fields, operation })
    t.match(refused, { status: 404, html: 'This candidate is no longer there' })
  }
  t.equal(candidatesIn((await visitor.get(page)).html).length, 3)
})

t.test('a viewer sees concepts and cannot write them, and nobody else learns of them', async (t) => {
  const { ada, visitor, workspace } = await start()
  const { id } = await write(ada, markdown, { title: 'Elephants' })
  const page = `/d/${id}/concepts`
  await visitor.send(page, { operation: 'extract' })
  const fields = fieldsOf((await visitor.get(page)).html, 'Water')
  const viewer = await service.signUp({ workspace, role: 'viewer' })
  const reader = await signedInVisitor(service, { userId: viewer.user_id })
  const seen = await reader.get(page)
  t.strictSame(candidatesIn(seen.html).length, 3)
  t.notMatch(seen.html, 'name="operation"')
  const { csrf_token: _, ...review } = fields
  for (const operation of ['extract', 'accept', 'reject']) {
    t.match(await reader.send(page, { ...review, operation }), { status: 403, html: 'lets you read only' })
  }
  const stranger = await service.signUp()
  const other = await signedInVisitor(service, { userId: stranger.user_id })
  t.equal((await other.get(page)).status, 404)
  t.equal((await other.send(page, { ...review, operation: 'accept' })).status, 404)
  const own = await write(stranger, 'Mine')
  t.equal((await other.send(`/d/${own.id}/concepts`, { ...review, operation: 'accept' })).status, 404)
  t.equal((await visitor.post(page, { ...review, operation: 'accept' })).status, 403, 'without the token of the form')
  t.strictSame(candidatesIn((await visitor.get(page)).html).length, 3)
})

t.test('thousands of candidates and concepts are shown in pages', async (t) => {
  const { ada, visitor } = await start()
  const { id } = await write(ada, markdown, { title: 'Elephants' })
  const page = `/d/${id}/concepts`
  const links = Array.from({ length: 1000 }, (_, index) => `[Term ${index}](a.md)`)
  await rewrite(ada, id, links.join('\n\n'))
  await visitor.send(page, { operation: 'extract' })
  const first = await visitor.get(page)
  t.equal(candidatesIn(first.html).length, 25)
  const second = await visitor.get(unescaped(/href="([^"]+candidates=[^"]+)"/.exec(first.html)?.[1] ?? ''))
  t.equal(new Set([...candidatesIn(first.html), ...candidatesIn(second.html)]).size, 50)
  const [name = ''] = candidatesIn(second.html)
  const rejected = await visitor.post(page, { ...fieldsOf(second.html, name), operation: 'reject' })
  const after = candidatesIn((await visitor.get(rejected.location ?? '')).html)
  t.strictSame(after.slice(0, 24), candidatesIn(second.html).slice(1), 'the reviewer stays on the page')
  await service.database.query(sql.unsafe`
    INSERT INTO concepts (workspace_id, id, knowledge_base_id, name, normalized_name, canonical_document_id)
    SELECT d.workspace_id, 'concept_' || lpad(n::text, 26, '0'), d.knowledge_base_id, 'concept ' || n, 'concept ' || n,
      d.id FROM documents d, generate_series(1, 1000) AS n WHERE d.id = ${id}`)
  const concepts = await visitor.get(page)
  t.equal(conceptsIn(concepts.html).length, 25)
  const more = await visitor.get(unescaped(/href="([^"]+concepts=[^"]+)"/.exec(concepts.html)?.[1] ?? ''))
  t.equal(new Set([...conceptsIn(concepts.html), ...conceptsIn(more.html)]).size, 50)
})

async function start() {
  const workspace = `Zoo ${Math.random()}`
  const ada = await service.signUp({ workspace })
  return { ada, workspace, visitor: await signedInVisitor(service, { userId: ada.user_id }) }
}

// Sends the form of a candidate, whose name is as the page shows it.
async function review(visitor: Visitor, { page, name, operation }: { page: string; name: string; operation: string }) {
  const { html } = await visitor.get(page)
  return visitor.post(page, { ...fieldsOf(html, name), operation })
}

// The hidden fields of the form of a candidate.
function fieldsOf(html: string, name: string): Record<string, string> {
  const entry = html
    .split('<li class="entry">')
    .find((part) => part.includes(`<bdi>${name}`) && part.includes('name="candidate"'))
  const action = /action="([^"]+)"/.exec(entry ?? '')?.[1] ?? ''
  return hiddenFields((entry ?? '').replaceAll('class="actions" ', ''), action)
}

function candidatesIn(html: string): string[] {
  const list = html.split('id="concepts-candidates"')[1]?.split('</section>')[0] ?? ''
  return [...list.matchAll(/class="entry-head"><a [^>]*><bdi>([^<]*)</g)].map(([, name = '']) => name)
}

function conceptsIn(html: string): string[] {
  const list = html.split('id="concepts-accepted"')[1] ?? ''
  return [...list.matchAll(/class="entry-head"><strong><bdi>([^<]*)</g)].map(([, name = '']) => name)
}

function unescaped(address: string): string {
  return address.replaceAll('&amp;', '&')
}
