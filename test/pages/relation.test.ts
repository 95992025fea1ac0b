import { sql } from '../../shared/database/database.ts'
import { workersOf } from '../../workers/types.ts'
import { h, p, text } from '../document/build.ts'
import { type Made, make } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { signedInVisitor, type Visitor } from '../support/visitor.ts'
import { rewrite, startWorkers, untilFresh } from '../support/workers.ts'

const service = await startTestService(t)
await startWorkers(t, service, workersOf(['relations', 'search', 'events']))
const hostile = '<b>"&\u202eevil'

t.test('a reader sees which blocks lead where, from both ends, with their sections and their freshness', async (t) => {
  const { ada, visitor } = await start()
  const target = await make(ada, [h(1, 'Food'), p('They eat <grass>.')], { title: hostile })
  const [, grass] = target.blocks
  const address = `svc://doc/${target.id}#block=${grass?.attrs.id}`
  const source = await make(ada, [h(2, 'Elephants & more'), p('See ', link(address, 'the <food>'))], { title: 'Large' })
  const [, sentence] = source.blocks
  await untilRead(visitor, source)
  await untilFresh(ada)

  const { status, html } = await visitor.get(`/d/${source.id}/relations`)
  t.equal(status, 200)
  const outgoing = sectionOf(html, 'outgoing')
  t.match(outgoing, `<a href="/d/${target.id}#${grass?.attrs.id}"><bdi>&lt;b&gt;&quot;&amp;\u202eevil</bdi></a>`)
  t.match(outgoing, /<bdi>Food<\/bdi>/, 'the section of the target')
  t.match(outgoing, 'They eat &lt;grass&gt;.')
  t.match(outgoing, 'Text of the link: “<bdi>the &lt;food&gt;</bdi>”')
  t.match(outgoing, `href="/d/${source.id}#${sentence?.attrs.id}"`)
  t.match(html, 'read up to its current text')

  const backlinks = sectionOf((await visitor.get(`/d/${target.id}/relations`)).html, 'incoming')
  t.match(backlinks, `referred to by <a href="/d/${source.id}#${sentence?.attrs.id}"><bdi>Large</bdi></a>`)
  t.match(backlinks, /<bdi>Elephants &amp; more<\/bdi>/, 'the section of the source')
  t.notMatch(html + backlinks, /<b>|<food>/)
})

t.test('a person finds a document, relates a block to it, and deletes the relation again', async (t) => {
  const { ada, visitor } = await start()
  const target = await make(ada, [p('Elephants drink water')], { title: 'Water' })
  const source = await make(ada, [p('About drinking'), p('Second')], { title: 'Drinking' })
  await untilFresh(ada)
  const page = `/d/${source.id}/relations`
  const found = await visitor.get(`${page}?find=elephants`)
  t.match(found.html, `value="svc://doc/${target.id}"`)
  t.match(found.html, `value="svc://doc/${target.id}#block=${target.blocks[0]?.attrs.id}"`)
  t.match((await visitor.get(`${page}?find=nothingness`)).html, 'Nothing was found')
  const byAddress = `https://kb.example.test/d/${target.id}?x#${target.blocks[0]?.attrs.id}`
  t.match((await visitor.get(`${page}?find=${encodeURIComponent(byAddress)}`)).html, 'Elephants drink water')

  const block = source.blocks[1]?.attrs.id ?? ''
  const fields = { operation: 'create', find: 'elephants', block, predicate: 'supports', note: hostile }
  const whole = { ...fields, target: `svc://doc/${target.id}` }
  t.match(await visitor.send(page, whole), { status: 303, location: `${page}?done=added` })
  const added = sectionOf((await visitor.get(`${page}?done=added`)).html, 'outgoing')
  t.match(added, /supports <a [^>]*><bdi>Water/)
  t.match(added, 'Note: “<bdi>&lt;b&gt;&quot;&amp;')
  const [key = ''] =
    /[\da-f-]{36}/.exec((await visitor.get(`${page}?find=elephants`)).html.split('form_key')[1] ?? '') ?? []
  const keyed = { ...whole, form_key: key, predicate: 'depends_on' }
  const repeated = [await visitor.send(page, keyed), await visitor.send(page, keyed)]
  t.match(repeated, [{ status: 303 }, { status: 303 }], 'a form that is sent twice is no mistake')
  const twice = await visitor.send(page, whole)
  t.match(twice, { status: 409, html: 'This relation is there already' })
  t.match(twice.html, 'value="&lt;b&gt;&quot;&amp;', 'what was typed is still there')
  const self = { ...fields, target: `svc://doc/${source.id}#block=${block}` }
  t.match(await visitor.send(page, self), { status: 422, html: 'cannot be related to itself' })
  t.match(await visitor.send(page, { ...whole, block: 'elsewhere' }), { status: 400, html: 'Choose where' })
  const gone = 'block_00000000000000000000000000'
  t.match(await visitor.send(page, { ...whole, block: gone }), { status: 404, html: 'no longer in its document' })

  const relation = /name="relation" value="(rel_\w+)"/.exec(added)?.[1] ?? ''
  await rewrite(ada, source.id, [p('Something else')])
  const after = sectionOf((await visitor.get(page)).html, 'outgoing')
  t.match(after, 'The block that it comes from is gone')
  t.match(after, 'Its source has been changed since it was added')
  t.match(await visitor.send(page, { operation: 'delete', relation }), {
    status: 303,
    location: `${page}?done=deleted`,
  })
  t.match(await visitor.send(page, { operation: 'delete', relation }), { status: 404, html: 'was deleted already' })
  t.notMatch((await visitor.get(page)).html, 'supports <')
  const { data } = (await ada.get(`/audit?document_id=${source.id}`)).body
  t.match(data.slice(0, 2), [{ action: 'deleteRelation' }, { action: 'replaceContent' }])
})

t.test('a form without its button, or of another document, deletes no relation', async (t) => {
  const { ada, visitor } = await start()
  const [source, other] = [await make(ada, [p('About drinking')]), await make(ada, [p('Else')])]
  const fields = { operation: 'create', block: source.blocks[0]?.attrs.id ?? '', predicate: 'supports' }
  await visitor.send(`/d/${source.id}/relations`, { ...fields, target: `svc://doc/${other.id}` })
  const [{ id: relation }] = (await ada.get(`/documents/${source.id}/relations`)).body.data
  const silent = await visitor.send(`/d/${other.id}/relations`, { relation })
  t.match(silent, { status: 400, html: 'The form did not say what to do' })
  for (const { id } of [other, await make(ada, [p('Third')])]) {
    const refused = await visitor.send(`/d/${id}/relations`, { operation: 'delete', relation })
    t.match(refused, { status: 404, html: 'was deleted already' })
  }
  t.match((await ada.get(`/documents/${source.id}/relations`)).body.data, [{ id: relation }])
})

t.test('a viewer reads relations and cannot write them, and nobody else learns of them', async (t) => {
  const { ada, visitor, workspace } = await start()
  const target = await make(ada, [p('target')])
  const source = await make(ada, [p('See ', link(`svc://doc/${target.id}`, 'it'))])
  await untilRead(visitor, source)
  const page = `/d/${source.id}/relations`
  const viewer = await service.signUp({ workspace, role: 'viewer' })
  const reader = await signedInVisitor(service, { userId: viewer.user_id })
  const seen = await reader.get(page)
  t.equal(seen.status, 200)
  t.match(sectionOf(seen.html, 'outgoing'), `/d/${target.id}`)
  t.notMatch(seen.html, /Add a relation|name="operation"/)
  const block = source.blocks[0]?.attrs.id ?? ''
  const fields = { operation: 'create', block, predicate: 'supports', target: `svc://doc/${target.id}` }
  t.match(await reader.send(page, fields), { status: 403, html: 'lets you read only' })
  const stranger = await service.signUp()
  const other = await signedInVisitor(service, { userId: stranger.user_id })
  t.equal((await other.get(page)).status, 404)
  t.equal((await other.send(page, fields)).status, 404)
  t.equal((await visitor.post(page, fields)).status, 403, 'without the token of the form')
  t.match((await ada.get(`/documents/${source.id}/relations?predicate=supports`)).body, { data: [] })

  const theirs = await make(stranger, [p('See ', link(`svc://doc/${target.id}`, 'it'))], { title: 'Secret' })
  await untilRead(other, theirs)
  t.notMatch((await visitor.get(`/d/${target.id}/relations`)).html, 'Secret')
  t.match((await other.get(`/d/${theirs.id}/relations`)).html, 'a document that is gone, or that you may not see')
})

t.test('thousands of relations are shown in pages, each relation once', async (t) => {
  const { ada, visitor } = await start()
  const hub = await make(ada, [p('hub')], { title: 'Hub' })
  const source = await make(ada, [p('source')], { title: 'Source' })
  const block = source.blocks[0]?.attrs.id ?? ''
  await service.database.query(sql.unsafe`
    INSERT INTO relations (workspace_id, id, origin, predicate, source_document_id, source_block_id, target_uri,
      target_document_id, target_block_id, anchor_text, source_version, created_by, created_at)
    SELECT d.workspace_id, 'rel_' || lpad(n::text, 26, '0'), 'manual', 'supports', d.id, ${block},
      'svc://doc/' || ${hub.id}::text || '#block=block_' || lpad(n::text, 26, '0'), ${hub.id},
      'block_' || lpad(n::text, 26, '0'), 'note ' || n, d.version, NULL, now() - n * interval '1 second'
    FROM documents d, generate_series(1, 2000) AS n WHERE d.id = ${source.id}`)
  const seen: string[] = []
  let address: string | undefined = `/d/${hub.id}/relations`
  for (let page = 0; page < 3 && address !== undefined; page += 1) {
    const { html } = await visitor.get(address)
    const notes = [...html.matchAll(/Note: “<bdi>(note \d+)/g)].map(([, note = '']) => note)
    t.ok(notes.length <= 25, `${notes.length} relations on a page`)
    seen.push(...notes)
    address = /href="([^"]+incoming=[^"]+)"/.exec(html)?.[1]
  }
  t.strictSame(
    seen,
    Array.from({ length: 75 }, (_, index) => `note ${2000 - index}`),
  )
  t.equal((await visitor.get(`/d/${hub.id}/relations?incoming=made-up`)).status, 400)
})

t.test('in a long document the source is found by its words', async (t) => {
  const { ada, visitor } = await start()
  const paragraphs = Array.from({ length: 400 }, (_, index) => p(index === 390 ? 'The <needle> of it' : 'Hay'))
  const { id, blocks } = await make(ada, paragraphs, { title: 'Long' })
  await untilFresh(ada)
  const page = `/d/${id}/relations?find=long`
  const first = await visitor.get(page)
  t.match(first.html, 'Which block of this document?')
  t.equal(first.html.match(/<option value="block_/g)?.length, 300)
  t.notMatch(first.html, 'needle')
  const found = await visitor.get(`${page}&here=needle`)
  t.match(found.html, `<option value="${blocks[390]?.attrs.id}">The &lt;needle&gt; of it`)
  t.match((await visitor.get(`${page}&here=nothingness`)).html, 'No block of this document has')
  const chosen = await visitor.get(`${page}&block=${blocks[390]?.attrs.id}`)
  t.match(chosen.html, `<option value="${blocks[390]?.attrs.id}" selected>`)
})

async function start() {
  const workspace = `Zoo ${Math.random()}`
  const ada = await service.signUp({ workspace })
  return { ada, workspace, visitor: await signedInVisitor(service, { userId: ada.user_id }) }
}

function link(href: string, words: string) {
  return text(words, { type: 'link', attrs: { href } })
}

async function untilRead(visitor: Visitor, { id }: Made): Promise<void> {
  await until(async () => (await visitor.get(`/d/${id}/relations`)).html.includes('read up to its current text'))
}

function sectionOf(html: string, name: string): string {
  return html.split(`aria-labelledby="relations-${name}"`)[1]?.split('</section>')[0] ?? ''
}
