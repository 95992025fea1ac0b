import { sql } from 'slonik'
import { publicDocument } from '../../shared/sharing/public-document.ts'
import { node, p, text } from '../document/build.ts'
import { samples, uploaded } from '../support/attachments.ts'
import { Client } from '../support/client.ts'
import { eventsOf, make, put, refused } from '../support/documents.ts'
import { sharedService, startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const origin = 'https://kb.example.test'
const service = await startTestService(t, { PUBLIC_ORIGIN: origin })
const nobody = new Client({ origin: service.origin })

t.test('a document has one public link, whoever asks for it and how often', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const first = await ada.post(`/documents/${id}/public-share`)
  t.equal(first.status, 201)
  const { share_id, created_at, created_by, ...rest } = first.body.data
  t.match(share_id, /^shr_[0-9A-HJKMNP-TV-Z]{26}$/)
  t.type(created_at, 'number')
  t.match(created_by, /^usr_/)
  t.strictSame(rest, {
    document_id: id,
    url: `${origin}/s/${share_id}`,
    access: 'read',
    comments_enabled: false,
    expires_at: null,
    has_password: false,
    view_count: 0,
    last_viewed_at: null,
  })
  const second = await ada.post(`/documents/${id}/public-share`, {})
  t.equal(second.status, 200)
  t.strictSame(second.body.data, first.body.data)
  t.strictSame(await eventsOf(service.database, id), ['document.created'], 'nothing has happened to the document')
})

t.test('a repetition with the same key gets the first answer again', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const keyed = () => ada.post(`/documents/${id}/public-share`, undefined, { 'idempotency-key': 'once' })
  const [first, second] = [await keyed(), await keyed()]
  t.equal(first.status, 201)
  t.equal(second.status, 201)
  t.equal(second.headers.get('idempotent-replayed'), 'true')
  t.strictSame(second.body.data, first.body.data)
})

t.test('requests at the same time agree on one link', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const replies = await Promise.all(Array.from({ length: 6 }, () => ada.post(`/documents/${id}/public-share`)))
  t.strictSame(replies.map(({ status }) => status).sort(), [200, 200, 200, 200, 200, 201])
  t.equal(new Set(replies.map(({ body }) => body.data.share_id)).size, 1)
})

t.test('only who may write a document can make it public', async (t) => {
  const ada = await service.signUp({ workspace: 'shared' })
  const viewer = await service.signUp({ workspace: 'shared', role: 'viewer' })
  const stranger = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  refused(t, await viewer.post(`/documents/${id}/public-share`), { status: 403, code: 'forbidden' })
  refused(t, await stranger.post(`/documents/${id}/public-share`), { status: 404, code: 'document_not_found' })
  refused(t, await ada.post('/documents/doc_unknown/public-share'), { status: 404, code: 'document_not_found' })
})

t.test('anybody with the link reads the document as it is now, until it is deleted', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('first text'))], { title: 'Shared <title>' })
  const path = await share(ada, id)
  const page = await nobody.get(path)
  t.equal(page.status, 200)
  t.match(page.headers.get('content-type'), 'text/html; charset=utf-8')
  t.match(page.headers.get('x-robots-tag'), 'noindex')
  t.match(page.text, '<meta name="robots" content="noindex">')
  t.match(page.text, '<title>Shared &lt;title&gt;</title>')
  t.match(page.text, 'first text')
  t.notMatch(page.text, id, 'the page says no more than the document')
  t.notOk(page.headers.get('set-cookie'))
  const policy = page.headers.get('content-security-policy') ?? ''
  t.match(policy, "default-src 'none'")
  t.notMatch(policy, /unsafe-inline|unsafe-eval|script-src|https?:|\*/)
  t.equal(page.headers.get('referrer-policy'), 'no-referrer')
  await put(ada, id, [p(text('second text'))])
  t.match((await nobody.get(path)).text, 'second text')
  const head = await nobody.call('HEAD', path)
  t.match(head, { status: 200, text: '' })
  await ada.delete(`/documents/${id}`)
  t.equal((await nobody.get(path)).status, 404)
})

t.test('a reload costs nothing, and never shows what has changed or is gone', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [node('paragraph', { textAlign: 'center' }, text('first text'))], { title: 'One' })
  const path = await share(ada, id)
  const first = await nobody.get(path)
  const etag = first.headers.get('etag') ?? ''
  t.match(etag, /^"sha256:[0-9a-f]{64}"$/)
  t.equal(first.headers.get('cache-control'), 'private, no-cache')
  for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
    const again = await nobody.get(path, { 'if-none-match': known })
    t.match(again, { status: 304, text: '' }, known)
    for (const name of ['etag', 'cache-control', 'content-security-policy', 'x-robots-tag']) {
      t.equal(again.headers.get(name), first.headers.get(name), `${name} is that of the page`)
    }
  }
  const head = await nobody.call('HEAD', path)
  t.match(head, { status: 200, text: '' })
  for (const name of ['etag', 'content-length', 'content-type'])
    t.equal(head.headers.get(name), first.headers.get(name))
  t.match(await nobody.call('HEAD', path, { headers: { 'if-none-match': etag } }), { status: 304, text: '' })
  t.equal((await nobody.get(path, { 'if-none-match': '"other"' })).text, first.text)

  const tags = [etag]
  const changes = [
    () => put(ada, id, [p(text('second text'))]),
    () => ada.patch(`/documents/${id}`, { title: 'Two' }),
    () => put(ada, id, [p(text('third text'))]),
  ]
  for (const change of changes) {
    await change()
    const changed = await nobody.get(path, { 'if-none-match': tags.join(', ') })
    t.equal(changed.status, 200)
    tags.push(changed.headers.get('etag') ?? '')
  }
  t.equal(new Set(tags).size, 4)
  const shown = await nobody.get(path)
  t.match(shown.text, '<title>Two</title>')
  t.match(shown.text, 'third text')
  await ada.delete(`/documents/${id}`)
  const gone = await nobody.get(path, { 'if-none-match': tags.join(', ') })
  t.equal(gone.status, 404)
  t.equal(gone.headers.get('etag'), null)
  t.equal(gone.headers.get('cache-control'), 'no-store')
})

t.test('readers of a page that did not change wait for no rendering', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('as it was rendered'))])
  const path = await share(ada, id)
  const replies = await Promise.all(Array.from({ length: 10 }, () => nobody.get(path)))
  t.equal(new Set(replies.map(({ status, headers }) => `${status} ${headers.get('etag')}`)).size, 1)
  await service.database.query(sql.unsafe`
    UPDATE document_bodies SET body = replace(body, 'as it was', 'not as it was') WHERE document_id = ${id}`)
  const page = await nobody.get(path)
  t.match(page.text, '>as it was rendered<', 'the stored body is not read again')
  const [sentence, other] = [p(text('another version')), await share(ada, (await make(ada, [p(text('other'))])).id)]
  await put(ada, id, [sentence])
  t.match((await nobody.get(path)).text, 'another version', 'until there is another')
  t.match((await nobody.get(other)).text, '>other<', 'and each page is its own')
})

t.test('readers of one address cannot use up the service', async (t) => {
  const limited = await sharedService({ RATE_SHARE_PER_MIN: '4', TRUST_PROXY: '1' })
  const ada = await limited.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const path = await share(ada, id)
  const reader = new Client({ origin: limited.origin })
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const visits: [string, string, number][] = [
    ['GET', path, 200],
    ['HEAD', path, 200],
    ['GET', `${path}/attachments/att_01ARZ3NDEKTSV4RRFFQ69G5FAV`, 404],
    ['GET', '//s/shr_01ARZ3NDEKTSV4RRFFQ69G5FAV', 404],
  ]
  for (const [index, [method, address, status]] of visits.entries()) {
    const reply = await reader.call(method, address, { headers: from('192.0.2.1') })
    t.equal(reply.status, status)
    t.equal(reply.headers.get('x-ratelimit-limit'), '4')
    t.equal(reply.headers.get('x-ratelimit-remaining'), String(3 - index), `${method} ${address} counts`)
  }
  for (const [method, address] of visits) {
    const refusal = await reader.call(method, address, { headers: from('192.0.2.1') })
    t.equal(refusal.status, 429)
    t.match(refusal.headers.get('retry-after'), /^([1-9]|[1-5][0-9]|60)$/)
    t.match(refusal.headers.get('content-type'), 'text/html')
    if (method === 'GET') t.match(refusal.text, 'Please wait a little')
  }
  t.equal((await reader.get(path, from('192.0.2.2'))).status, 200, 'another address is not concerned')
  t.equal((await ada.get('/me', from('192.0.2.1'))).status, 200, 'nor is the API')
})

t.test('strangers see neither the frontmatter nor who is meant by a name', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [
    node('frontmatter', { yaml: 'owner: secret@example.test' }),
    p(text('Ask '), node('mention', { id: 'usr_SECRET', label: 'Ada' }), node('mention', { id: 'usr_SECRET' })),
    node('blockquote', {}, p(node('mention', { id: 'usr_SECRET', label: 'Grace' }))),
  ])
  const { text: page } = await nobody.get(await share(ada, id))
  t.notMatch(page, /secret/i)
  t.match(page, 'Ask <span>@Ada</span><span>@somebody</span>')
  t.match(page, '<span>@Grace</span>')
  const { content } = (await ada.get(`/documents/${id}/content?format=html`)).body.data
  t.match(content, 'data-mention="usr_SECRET"', 'whoever may read the document sees them')
  t.match(content, 'owner: secret@example.test')
  const empty = await make(ada, [node('frontmatter', { yaml: 'a: secret' })])
  t.equal((await nobody.get(await share(ada, empty.id))).status, 200)
})

t.test('a link that does not exist is a page that says so', async (t) => {
  for (const id of ['shr_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'shr_x', 'x', '%00', '..%2f..', `shr_${'0'.repeat(2000)}`]) {
    const page = await nobody.get(`//s/${id}`)
    t.equal(page.status, 404, id)
    t.match(page.headers.get('content-type'), 'text/html')
    t.match(page.text, 'Page not found')
  }
  t.equal((await nobody.post('//s/shr_01ARZ3NDEKTSV4RRFFQ69G5FAV')).status, 404)
  t.equal((await nobody.put('//s/shr_01ARZ3NDEKTSV4RRFFQ69G5FAV')).status, 405)
})

t.test('images of the document come from the link, and no other file does', async (t) => {
  const ada = await service.signUp()
  const other = await make(ada, [p(text('not shared'))])
  const made = await make(ada, [p(text('x'))])
  const [shown, unshown, elsewhere] = [
    await uploaded(ada, { documentId: made.id }),
    await uploaded(ada, { documentId: made.id }),
    await uploaded(ada, { documentId: other.id }),
  ]
  const paper = await uploaded(ada, {
    documentId: made.id,
    filename: 'p<script>.txt',
    type: 'text/plain',
    bytes: '<script>alert(1)</script>',
  })
  const image = (attachmentId: string) => node('image', { attachmentId, alt: 'a picture' })
  t.equal((await put(ada, made.id, [image(shown), image(paper)])).status, 200)
  const path = await share(ada, made.id)
  t.match((await nobody.get(path)).text, `src="${path.slice(1)}/attachments/${shown}"`)
  const bytes = await fetch(`${service.origin}${path.slice(1)}/attachments/${shown}`)
  t.equal(bytes.status, 200)
  t.equal(bytes.headers.get('content-type'), 'image/png')
  t.match(bytes.headers.get('content-disposition'), /^inline/)
  t.equal(bytes.headers.get('x-content-type-options'), 'nosniff')
  t.match(bytes.headers.get('content-security-policy'), "default-src 'none'")
  t.strictSame(Buffer.from(await bytes.arrayBuffer()), samples.png)
  const etag = bytes.headers.get('etag') ?? ''
  t.equal((await nobody.get(`${path}/attachments/${shown}`, { 'if-none-match': etag })).status, 304)
  t.match(await nobody.call('HEAD', `${path}/attachments/${shown}`), { status: 200, text: '' })
  const file = await nobody.get(`${path}/attachments/${paper}`)
  t.equal(file.headers.get('content-type'), 'application/octet-stream')
  t.match(file.headers.get('content-disposition'), /^attachment/)
  for (const id of [unshown, elsewhere, 'att_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'x', '%2e%2e%2fx']) {
    t.equal((await nobody.get(`${path}/attachments/${id}`)).status, 404, id)
  }
  const foreign = await share(ada, other.id)
  t.equal((await nobody.get(`${foreign}/attachments/${shown}`)).status, 404, 'of another link neither')
  await put(ada, made.id, [p(text('no picture'))])
  t.equal((await nobody.get(`${path}/attachments/${shown}`)).status, 404, 'nor when it is not shown any more')
})

t.test('images from elsewhere are links, and links into the service are text', async (t) => {
  const link = (href: string) => text('link', { type: 'link', attrs: { href } })
  const document = publicDocument(
    {
      type: 'doc',
      content: [
        node('image', { id: 'block_1', src: 'https://elsewhere.example/x.png', alt: 'A chart' }),
        p(
          node('inlineImage', { src: 'http://elsewhere.example/y.png' }),
          link('svc://doc/doc_1'),
          link('https://a.example'),
        ),
      ],
      // biome-ignore lint/suspicious/noExplicitAny: only what the function looks at
    } as any,
    () => 'unused',
  )
  t.match(document.content, [
    {
      type: 'paragraph',
      content: [{ text: 'A chart', marks: [{ attrs: { href: 'https://elsewhere.example/x.png' } }] }],
    },
    {
      content: [
        { type: 'text', text: 'http://elsewhere.example/y.png' },
        { text: 'link', marks: [] },
        { text: 'link', marks: [{ attrs: { href: 'https://a.example' } }] },
      ],
    },
  ])
})

t.test('colours and alignment are allowed one by one, however many a document has', async (t) => {
  const ada = await service.signUp()
  const coloured = (color: string) => text('x', { type: 'textStyle', attrs: { color } })
  const many = Array.from({ length: 500 }, (_, index) => coloured(`#${String(index).padStart(6, '0')}`))
  const { id } = await make(ada, [p(...many)])
  const page = await nobody.get(await share(ada, id))
  t.equal(page.status, 200)
  const policy = page.headers.get('content-security-policy') ?? ''
  t.equal(policy.match(/'sha256-/g)?.length, 40, 'and the header stays small')
})

t.test('an operator can do without public links', async (t) => {
  const closed = await sharedService({ PUBLIC_SHARE_ENABLED: 'false' })
  const ada = await closed.signUp()
  const { id } = await make(ada, [p(text('x'))])
  refused(t, await ada.post(`/documents/${id}/public-share`), { status: 403, code: 'public_share_disabled' })
  refused(t, await ada.post('/documents/doc_unknown/public-share'), { status: 404, code: 'document_not_found' })
})

t.test('the start page leads to everything that is there', async (t) => {
  const page = await nobody.get('//')
  t.equal(page.status, 200)
  t.match(page.headers.get('content-type'), 'text/html')
  const addresses = [...page.text.matchAll(/href="(\/[^"]*)"/g)].map(([, address = '']) => address)
  for (const wanted of ['/api-docs', '/api-docs.md', '/api/openapi.json', '/login', '/healthz']) {
    t.ok(addresses.includes(wanted), wanted)
  }
  for (const address of new Set(addresses)) {
    t.equal((await nobody.get(`/${address.replaceAll('&amp;', '&')}`)).status, 200, address)
  }
})

t.test('the reference for people runs no script and comes from here alone', async (t) => {
  const page = await nobody.get('//api-docs')
  t.equal(page.status, 200)
  t.match(page.headers.get('content-type'), 'text/html')
  t.notMatch(page.text, /<script|(src|href)="(https?:)?\/\//)
  t.notMatch(page.headers.get('content-security-policy'), /script-src|unsafe|https?:|\*/)
  const plain = await nobody.get('//api-docs', { 'accept-encoding': 'identity' })
  t.equal(plain.headers.get('content-encoding'), null)
  t.equal(plain.text, page.text, 'compressed or not')
})

async function share(client: Client, id: string): Promise<string> {
  const reply = await client.post(`/documents/${id}/public-share`)
  return `//s/${reply.body.data.share_id}`
}
