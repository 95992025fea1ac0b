import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { Type } from 'typebox'
import { inTransaction, sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { node, p, text } from '../document/build.ts'
import { uploaded } from '../support/attachments.ts'
import { Client, type Reply } from '../support/client.ts'
import { make, put, refused } from '../support/documents.ts'
import { eventually } from '../support/peers.ts'
import { runsTimes } from '../support/runs.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const service = await sharedService({ TRUST_PROXY: '1' })
const nobody = new Client({ origin: service.origin })
const secretTitle = 'Merger with Umbrella'
const password = 'trunk and tusk'

t.test('a link begins with its expiry and its password, and asking again changes neither', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const later = Date.now() + 86_400_000
  const first = await ada.post(`/documents/${id}/public-share`, { expires_at: later, password })
  t.match(first, { status: 201, body: { data: { expires_at: later, has_password: true } } })
  t.notMatch(first.text, password)
  const again = await ada.post(`/documents/${id}/public-share`, { expires_at: later + 1, password: 'another one' })
  t.equal(again.status, 200)
  t.strictSame(again.body.data, first.body.data)
  t.equal((await enter(pathOf(first), password)).status, 303, 'the first password counts')
  t.equal((await enter(pathOf(first), 'another one')).status, 403)
})

t.test('an expiry that is over and a password that nobody could enter are refused', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const made = await ada.post(`/documents/${id}/public-share`)
  const wrong = [
    { expires_at: 1 },
    { expires_at: Date.now() - 1 },
    { expires_at: -1 },
    { expires_at: 1.5 },
    { expires_at: '2030-01-01' },
    { expires_at: 1e300 },
    { password: 'sevenss' },
    { password: 'x'.repeat(201) },
    { password: 'two\nlines of it' },
    { password: 'unstorable\u0000' },
    { password: 12345678 },
  ]
  for (const body of wrong) {
    const [member] = Object.keys(body)
    for (const call of [
      () => ada.post(`/documents/${id}/public-share`, body),
      () => ada.patch(`/public-shares/${made.body.data.share_id}`, body),
    ]) {
      const reply = await call()
      refused(t, reply, { status: 400, code: 'invalid_request' })
      t.match(reply.body.error.details.fields, [{ path: `/${member}` }], JSON.stringify(body))
    }
  }
  t.equal((await ada.post(`/documents/${id}/public-share`, { password: null })).status, 400)
  t.strictSame((await listed(ada, `document_id=${id}`)).data, [made.body.data], 'nothing has changed')
})

t.test('owners find all their links, newest first, page by page', async (t) => {
  const ada = await service.signUp()
  const bob = await service.signUp()
  const [zoo, lab] = [await base(ada), await base(ada)]
  const made = []
  for (const knowledge_base_id of [zoo, lab, zoo, lab, zoo]) {
    const { id } = await make(ada, [p(text('x'))], { knowledge_base_id })
    made.unshift((await ada.post(`/documents/${id}/public-share`)).body.data)
  }
  t.strictSame((await listed(ada, '')).data, made)
  t.strictSame((await listed(ada, `knowledge_base_id=${zoo}`)).data, [made[0], made[2], made[4]])
  t.strictSame((await listed(ada, `document_id=${made[3].document_id}`)).data, [made[3]])
  t.strictSame((await listed(ada, `document_id=${made[3].document_id}&knowledge_base_id=${zoo}`)).data, [])
  for (const empty of ['knowledge_base_id=999999999', 'document_id=doc_unknown']) {
    t.strictSame((await listed(ada, empty)).data, [], empty)
  }
  t.strictSame((await listed(bob, `knowledge_base_id=${zoo}`)).data, [], 'the links of others are not shown')
  const pages = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data, page } = await listed(ada, `limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
    pages.push(data)
    cursor = page.next_cursor
  }
  t.strictSame(pages, [made.slice(0, 2), made.slice(2, 4), made.slice(4)])
  const { page } = await listed(ada, 'limit=2')
  refused(t, await ada.get(`/public-shares?limit=2&knowledge_base_id=${zoo}&cursor=${page.next_cursor}`), {
    status: 400,
    code: 'invalid_cursor',
  })
})

t.test('a revoked link is closed at once and for good, in every cache', async (t) => {
  const ada = await service.signUp()
  const made = await make(ada, [p(text('x'))], { title: secretTitle })
  const picture = await uploaded(ada, { documentId: made.id })
  await put(ada, made.id, [node('image', { attachmentId: picture })])
  const first = await ada.post(`/documents/${made.id}/public-share`)
  const path = pathOf(first)
  const shown = await nobody.get(path)
  t.equal(shown.status, 200)
  t.match(shown.headers.get('cache-control'), 'no-cache', 'a cache has to ask each time')
  const image = await nobody.get(`${path}/attachments/${picture}`)
  const gone = await ada.delete(`/public-shares/${first.body.data.share_id}`)
  t.match(gone, { status: 204, text: '' })
  for (const [address, etag] of [
    [path, shown.headers.get('etag') ?? ''],
    [`${path}/attachments/${picture}`, image.headers.get('etag') ?? ''],
  ] as const) {
    for (const method of ['GET', 'HEAD', 'POST']) {
      if (method === 'POST' && address !== path) continue
      for (const known of ['', etag, '*']) {
        const headers = { 'if-none-match': known }
        const reply = await nobody.call(method, address, { headers })
        t.equal(reply.status, 404, `${method} ${known}`)
        t.equal(reply.headers.get('etag'), null)
        t.equal(reply.headers.get('cache-control'), 'no-store')
        t.notMatch(reply.text, secretTitle)
      }
    }
  }
  const { share_id } = first.body.data
  refused(t, await ada.delete(`/public-shares/${share_id}`), { status: 404, code: 'share_not_found' })
  refused(t, await ada.patch(`/public-shares/${share_id}`, { expires_at: null }), {
    status: 404,
    code: 'share_not_found',
  })
  t.strictSame((await listed(ada, `document_id=${made.id}`)).data, [])
  const second = await ada.post(`/documents/${made.id}/public-share`)
  t.equal(second.status, 201)
  t.not(second.body.data.share_id, share_id)
  t.equal((await nobody.get(path)).status, 404, 'the old address stays closed')
  t.equal((await nobody.get(pathOf(second))).status, 200)
})

t.test('only writers of the workspace change or revoke a link', async (t) => {
  const ada = await service.signUp({ workspace: 'links' })
  const viewer = await service.signUp({ workspace: 'links', role: 'viewer' })
  const stranger = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const { share_id } = (await ada.post(`/documents/${id}/public-share`)).body.data
  for (const [client, refusal] of [
    [viewer, { status: 403, code: 'forbidden' }],
    [stranger, { status: 404, code: 'share_not_found' }],
  ] as const) {
    refused(t, await client.patch(`/public-shares/${share_id}`, { password }), refusal)
    refused(t, await client.delete(`/public-shares/${share_id}`), refusal)
  }
  refused(t, await ada.delete('/public-shares/shr_x'), { status: 404, code: 'share_not_found' })
  t.match((await listed(viewer, '')).data, [{ share_id, has_password: false }], 'viewers see the links')
})

t.test('an expired link is a page that does not exist, until it gets a new expiry', async (t) => {
  const ada = await service.signUp()
  const made = await make(ada, [p(text('x'))], { title: secretTitle })
  const share = await ada.post(`/documents/${made.id}/public-share`, { expires_at: Date.now() + 3_600_000 })
  const { share_id } = share.body.data
  const shown = await nobody.get(pathOf(share))
  t.equal(shown.status, 200)
  await expire(share_id)
  for (const [method, headers] of [
    ['GET', {}],
    ['HEAD', {}],
    ['POST', {}],
    ['GET', { 'if-none-match': shown.headers.get('etag') ?? '' }],
  ] as const) {
    const reply = await nobody.call(method, pathOf(share), { headers })
    t.equal(reply.status, 404)
    t.notMatch(reply.text, secretTitle)
  }
  t.match((await listed(ada, `document_id=${made.id}`)).data, [{ share_id }], 'the owner still sees it')
  t.match((await ada.post(`/documents/${made.id}/public-share`)).body.data, { share_id }, 'and asking finds it')
  const changed = await ada.patch(`/public-shares/${share_id}`, { expires_at: null })
  t.match(changed, { status: 200, body: { data: { expires_at: null } } })
  t.equal((await nobody.get(pathOf(share))).status, 200)
})

t.test('nothing of the document is told before the password, whatever is asked', async (t) => {
  const ada = await service.signUp()
  const made = await make(ada, [p(text('x'))], { title: secretTitle })
  const picture = await uploaded(ada, { documentId: made.id })
  await put(ada, made.id, [p(text('Raccoon City')), node('image', { attachmentId: picture })])
  const share = await ada.post(`/documents/${made.id}/public-share`)
  const path = pathOf(share)
  const etag = (await nobody.get(path)).headers.get('etag') ?? ''
  const imageTag = (await nobody.get(`${path}/attachments/${picture}`)).headers.get('etag') ?? ''
  await ada.patch(`/public-shares/${share.body.data.share_id}`, { password })
  const plain = await nobody.get(path)
  t.match(plain.text, 'A password is needed')
  const other = await make(ada, [p(text('another, much longer document'.repeat(100)))], { title: 'Something else' })
  const otherShare = await ada.post(`/documents/${other.id}/public-share`, { password })
  const otherPage = await nobody.get(pathOf(otherShare))
  const [own, foreign] = [share, otherShare].map(({ body }) => body.data.share_id)
  t.equal(otherPage.text.replaceAll(foreign, own), plain.text, 'all password pages are the same')
  for (const method of ['GET', 'HEAD']) {
    for (const known of ['', etag, '*']) {
      const reply = await nobody.call(method, path, { headers: { 'if-none-match': known, cookie: 'svc_share=1.x' } })
      t.equal(reply.status, 403, `${method} ${known}`)
      t.equal(reply.text, method === 'GET' ? plain.text : '')
      t.equal(reply.headers.get('content-length'), plain.headers.get('content-length'))
      t.equal(reply.headers.get('cache-control'), 'no-store')
      for (const name of ['etag', 'last-modified', 'set-cookie']) t.equal(reply.headers.get(name), null, name)
      t.notMatch(headersOf(reply), /Umbrella|Raccoon|doc_/)
      t.notMatch(reply.text, /Umbrella|Raccoon|doc_/)
    }
  }
  const files = [picture, 'att_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'x']
  const answers = []
  for (const id of files) {
    const reply = await nobody.get(`${path}/attachments/${id}`, { 'if-none-match': imageTag })
    answers.push([reply.status, reply.headers.get('etag'), reply.headers.get('cache-control')])
  }
  t.strictSame(new Set(answers.map(String)), new Set(['403,,no-store']), 'no file is told from another')
})

t.test('the password opens its own link in its own browser, until it is changed', async (t) => {
  const ada = await service.signUp()
  const made = await make(ada, [p(text('x'))], { title: secretTitle })
  const picture = await uploaded(ada, { documentId: made.id })
  await put(ada, made.id, [node('image', { attachmentId: picture })])
  const share = await ada.post(`/documents/${made.id}/public-share`, { password })
  const other = await ada.post(`/documents/${(await make(ada, [p(text('other'))])).id}/public-share`, { password })
  const path = pathOf(share)
  const entered = await enter(path, password)
  t.equal(entered.status, 303)
  t.equal(entered.headers.get('location'), path.slice(1))
  const cookie = entered.headers.get('set-cookie') ?? ''
  t.match(cookie, `Path=${path.slice(1)};`)
  t.match(cookie, 'HttpOnly')
  t.match(cookie, 'SameSite=Lax')
  const headers = { cookie: cookie.split(';')[0] ?? '' }
  const shown = await nobody.get(path, headers)
  t.match(shown, { status: 200 })
  t.match(shown.text, `<title>${secretTitle}</title>`)
  t.equal(shown.headers.get('cache-control'), 'no-store', 'no cache keeps what a password protects')
  const known = { ...headers, 'if-none-match': shown.headers.get('etag') ?? '' }
  t.equal((await nobody.get(path, known)).status, 304)
  const image = await nobody.get(`${path}/attachments/${picture}`, headers)
  t.match(image, { status: 200 })
  t.equal(image.headers.get('cache-control'), 'no-store')
  t.equal((await nobody.get(pathOf(other), headers)).status, 403, 'another link with the same password stays closed')
  const [, until = '', proof = ''] = /svc_share=(\d+)\.([^;]+)/.exec(cookie) ?? []
  for (const value of [`${Number(until) + 1}.${proof}`, `${until}.`, until, `NaN.${proof}`, `${until}.${proof}x`]) {
    t.equal((await nobody.get(path, { cookie: `svc_share=${value}` })).status, 403, value)
  }
  for (const [current, next] of [
    [password, 'a new password'],
    ['a new password', 'a new password'],
  ] as const) {
    const before = cookieOf(await enter(path, current))
    t.equal((await nobody.get(path, { cookie: before })).status, 200)
    await ada.patch(`/public-shares/${share.body.data.share_id}`, { password: next })
    t.equal((await nobody.get(path, headers)).status, 403, 'a new password ends the cookies given before')
    t.equal((await nobody.get(path, known)).status, 403)
    t.equal((await nobody.get(path, { cookie: before })).status, 403, 'even if it is the same password')
  }
  const reopened = { cookie: cookieOf(await enter(path, 'a new password')) }
  t.equal((await nobody.get(path, reopened)).status, 200)
  await ada.patch(`/public-shares/${share.body.data.share_id}`, { password: null })
  t.equal((await nobody.get(path)).status, 200, 'without a password the link is open')
  const form = await enter(path, 'anything')
  t.equal(form.status, 303, 'a form that was still open leads to the document')
})

t.test('a form of another site and a password that is no text open nothing', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const path = pathOf(await ada.post(`/documents/${id}/public-share`, { password }))
  t.equal((await enter(path, password, { 'sec-fetch-site': 'cross-site' })).status, 403)
  const twice = `password=${encodeURIComponent(password)}&password=${encodeURIComponent(password)}`
  const type = { 'content-type': 'application/x-www-form-urlencoded', 'x-forwarded-for': '192.0.2.77' }
  for (const raw of ['', 'password=', twice, `password=${'x'.repeat(5000)}`, 'password=%00%00%00%00%00%00%00%00']) {
    const reply = await nobody.call('POST', path, { raw, headers: type })
    t.equal(reply.status, 403, raw.slice(0, 20))
    t.equal(reply.headers.get('set-cookie'), null)
  }
  t.equal((await nobody.post(path, { password })).status, 415)
})

t.test('after ten wrong passwords an address waits, even with the right one', async (t) => {
  const ada = await service.signUp()
  const [one, other] = [await make(ada, [p(text('x'))]), await make(ada, [p(text('x'))])]
  const path = pathOf(await ada.post(`/documents/${one.id}/public-share`, { password }))
  const second = pathOf(await ada.post(`/documents/${other.id}/public-share`, { password }))
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const reader = { cookie: cookieOf(await enter(path, password, from('192.0.2.1'))) }
  const wrong = await Promise.all(
    Array.from({ length: 10 }, (_, index) => enter(path, `wrong guess ${index}`, from('192.0.2.1'))),
  )
  t.strictSame(new Set(wrong.map(({ status }) => status)), new Set([403]))
  for (const guess of ['wrong again', password]) {
    const reply = await enter(path, guess, from('192.0.2.1'))
    t.equal(reply.status, 429)
    t.match(reply.headers.get('retry-after'), /^([1-9]|[1-5][0-9]|60)$/)
    t.equal(reply.headers.get('set-cookie'), null)
  }
  t.equal((await nobody.get(path, { ...reader, ...from('192.0.2.1') })).status, 200, 'who is in stays in')
  t.equal((await enter(path, password, from('192.0.2.2'))).status, 303, 'another address is not concerned')
  t.equal((await enter(second, password, from('192.0.2.1'))).status, 303, 'nor is another link')
})

t.test('a password sent with an Idempotency-Key leaves no digest that could be guessed', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const share = () => ada.post(`/documents/${id}/public-share`, { password }, { 'idempotency-key': 'guess-me' })
  const [first, again] = [await share(), await share()]
  t.strictSame(again.body.data, first.body.data)
  const digest = createHash('sha256').update(JSON.stringify([{ password }, []]))
  const isPlain = await service.database.oneFirst(sql.type(row(Type.Object({ plain: Type.Boolean() })))`
    SELECT fingerprint = decode(${digest.digest('hex')}, 'hex') AS plain FROM idempotency_keys WHERE key = 'guess-me'`)
  t.equal(isPlain, false)
})

t.test('each view of a document is counted, and nothing else is', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const share = await ada.post(`/documents/${id}/public-share`, { password })
  const path = pathOf(share)
  const reader = { cookie: cookieOf(await enter(path, password)) }
  await nobody.get(path)
  await nobody.call('HEAD', path, { headers: reader })
  await nobody.get(`${path}/attachments/x`, reader)
  t.match((await listed(ada, `document_id=${id}`)).data, [{ view_count: 0, last_viewed_at: null }])
  const shown = await nobody.get(path, reader)
  await nobody.get(path, { ...reader, 'if-none-match': shown.headers.get('etag') ?? '' })
  await Promise.all(Array.from({ length: 40 }, () => nobody.get(path, reader)))
  const views = async () => (await listed(ada, `document_id=${id}`)).data[0]
  await eventually(async () => (await views()).view_count >= 42)
  t.match(await views(), { view_count: 42, last_viewed_at: Number })
})

t.test('a reader sees a page while its link is being changed or deleted, and is counted afterwards', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const path = pathOf(await ada.post(`/documents/${id}/public-share`))
  const views = async () => (await listed(ada, `document_id=${id}`)).data[0].view_count
  await inTransaction(service.database, async (tx) => {
    await tx.query(sql.unsafe`SELECT 1 FROM public_shares WHERE document_id = ${id} FOR UPDATE`)
    const replies = await Promise.all(Array.from({ length: 40 }, () => nobody.get(path)))
    t.strictSame(new Set(replies.map(({ status }) => status)), new Set([200]))
    t.equal(await views(), 0)
  })
  await eventually(async () => (await views()) >= 40)
  t.equal(await views(), 40)
})

t.test('changes at the same time all count, in whatever order they come', async (t) => {
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('x'))])
  const { share_id } = (await ada.post(`/documents/${id}/public-share`)).body.data
  const expires_at = Date.now() + 3_600_000
  const changes = [{ expires_at }, { password }, {}]
  await fc.assert(
    fc.asyncProperty(fc.shuffledSubarray(changes, { minLength: 3 }), async (order) => {
      await ada.patch(`/public-shares/${share_id}`, { expires_at: null, password: null })
      const replies = await Promise.all(order.map((change) => ada.patch(`/public-shares/${share_id}`, change)))
      t.strictSame(new Set(replies.map(({ status }) => status)), new Set([200]))
      t.match((await listed(ada, `document_id=${id}`)).data, [{ expires_at, has_password: true }])
    }),
    runsTimes(0.03),
  )
  const ends = await Promise.all([
    ada.delete(`/public-shares/${share_id}`),
    ada.delete(`/public-shares/${share_id}`),
    ada.patch(`/public-shares/${share_id}`, { expires_at: null }),
  ])
  const [deleted, again, patched] = ends.map(({ status }) => status)
  t.strictSame([deleted, again].sort(), [204, 404], 'one of two revokes it')
  t.ok(patched === 200 || patched === 404)
})

function enter(path: string, password: string, headers: Record<string, string> = {}): Promise<Reply> {
  const raw = new URLSearchParams({ password }).toString()
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  return nobody.call('POST', path, { raw, headers: { ...type, ...headers } })
}

async function listed(client: Client, query: string) {
  const reply = await client.get(`/public-shares?${query}`)
  if (reply.status !== 200) throw new Error(reply.text)
  return reply.body
}

async function base(client: Client): Promise<number> {
  return (await client.post('/knowledge-bases', { name: 'Zoo' })).body.data.id
}

async function expire(shareId: string): Promise<void> {
  await service.database.query(sql.unsafe`
    UPDATE public_shares SET expires_at = now() - interval '1 millisecond' WHERE id = ${shareId}`)
}

function pathOf(share: Reply): string {
  return `//s/${share.body.data.share_id}`
}

function cookieOf(reply: Reply): string {
  return reply.headers.get('set-cookie')?.split(';')[0] ?? ''
}

function headersOf(reply: Reply): string {
  return JSON.stringify([...reply.headers])
}
