import { gzipSync } from 'node:zlib'
import { remark } from 'remark'
import remarkGfm from 'remark-gfm'
import { errorBody } from '../../api/http/errors.ts'
import { errorCatalogue } from '../../shared/errors/error-catalogue.ts'
import { type ErrorCode, Refusal } from '../../shared/errors/errors.ts'
import { upload } from '../support/attachments.ts'
import { Client, type Reply } from '../support/client.ts'
import { make } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'

const { origin, signUp, config } = await sharedService()
const client = await signUp()

type Field = { path: string; message: string }

/** Asserts the problems of a refused request, in their order. */
function problems(t: Test, reply: Reply, expected: readonly Field[]): void {
  t.equal(reply.body?.error?.code, 'invalid_request', reply.text.slice(0, 500))
  t.same(reply.body.error.details?.fields, expected)
}

t.test('whoever sends a wrong value is told which values are allowed', async (t) => {
  const search = (query: string) => client.get(`/search/v2?q=x&${query}`)
  problems(t, await search('mode=all'), [{ path: '?mode', message: 'must be one of: topk, exhaustive' }])
  problems(t, await search('limit=0'), [{ path: '?limit', message: 'must be an integer from 1 to 100' }])
  problems(t, await search('limit=x'), [{ path: '?limit', message: 'must be an integer from 1 to 100' }])
  problems(t, await client.post('/knowledge-bases', {}), [{ path: '/name', message: 'is required' }])
  problems(t, await client.post('/knowledge-bases', { name: ' ' }), [
    { path: '/name', message: 'must be 1 to 200 characters after trimming, without U+0000 or lone surrogates' },
  ])
  problems(t, await client.post('/documents', { id: 'x', title: 'x' }), [
    { path: '/id', message: 'must be a string that matches ^doc_[A-Za-z0-9_-]{1,64}$ (never used before, anywhere)' },
  ])
  problems(t, await client.post('/documents/doc_x/batch', { operations: [] }), [
    { path: '/operations', message: 'must have 1 to 100 items, not 0' },
  ])
  const insert = { position: { document_start: true, document_end: true }, nodes: [{ type: 'paragraph' }] }
  const members = 'document_start, document_end, before_block_id, after_block_id, parent_block_id, after_heading'
  problems(t, await client.post('/documents/doc_x/blocks', insert), [
    { path: '/position', message: `must have exactly one of the members ${members}` },
  ])
  problems(t, await client.post('/documents/doc_x/versions/x/rollback', {}, { 'if-match': '*' }), [
    { path: '{seq}', message: 'must be an integer of at least 1' },
  ])
})

t.test('whoever sends a value of a wrong kind is told both kinds, and the value is not repeated', async (t) => {
  const secret = 'a-secret-that-was-pasted-into-the-wrong-member'
  const wrong = { title: 1, background_color: [secret], collapsed_block_ids: { [secret]: 1 }, folder_id: true }
  const refused = await client.post('/documents', wrong)
  t.notMatch(refused.text, secret)
  const id = 'an integer from 1 to 10000000000000000, a string that matches ^[1-9][0-9]{0,15}$ or null'
  problems(t, refused, [
    { path: '/title', message: 'must be a string, not an integer' },
    { path: '/folder_id', message: `must be ${id}, not a boolean` },
    { path: '/background_color', message: 'must be a string of at most 64 characters or null, not an array' },
    { path: '/collapsed_block_ids', message: 'must be an array of at most 1000 items, not an object' },
  ])
  problems(t, await client.post('/documents', { title: null, content: 'x' }), [
    { path: '/title', message: 'must be a string, not null' },
    { path: '/content', message: 'must be an object, not a string' },
  ])
})

t.test('whoever gets one alternative of a union wrong is not told about the others', async (t) => {
  const batch = (...operations: unknown[]) => client.post('/documents/doc_x/batch', { operations })
  problems(t, await batch({ op: 'replace', block_id: 1 }), [
    { path: '/operations/0/node', message: 'is required' },
    { path: '/operations/0/block_id', message: 'must be a string, not an integer' },
  ])
  problems(t, await batch({ op: 'move' }, {}, 'x'), [
    { path: '/operations/0/op', message: 'must be one of: insert, replace, delete' },
    { path: '/operations/1/op', message: 'is required, one of: insert, replace, delete' },
    { path: '/operations/2', message: 'must be an object, not a string' },
  ])
  const put = (body: object) => client.put('/documents/doc_x/content', body, { 'if-match': '*' })
  problems(t, await put({ format: 'markdown' }), [{ path: '/content', message: 'is required' }])
  problems(t, await put({ format: 'html' }), [{ path: '/format', message: 'must be one of: markdown, tiptap-json' }])
  problems(t, await put({}), [{ path: '/format', message: 'is required, one of: markdown, tiptap-json' }])
  problems(t, await client.post('/documents', { title: 'x', content: { format: 'tiptap-json', document: 'x' } }), [
    { path: '/content/document', message: 'must be an object, not a string' },
  ])
  problems(t, await client.post('/documents', { title: 'x', background_color: 'x'.repeat(65) }), [
    { path: '/background_color', message: 'must be a string of at most 64 characters or null' },
  ])
  problems(t, await client.post('/auth/device/code', { client_name: 'x', scopes: ['a', 1] }), [
    { path: '/scopes/1', message: 'must be a string, not an integer' },
  ])
})

t.test('whoever sends broken JSON is told where it breaks', async (t) => {
  const messageOf = async (raw: string | Uint8Array, headers: Record<string, string> = {}) => {
    const { body } = await client.call('POST', '/knowledge-bases', { raw, headers })
    t.match(body.error, { code: 'invalid_json' })
    t.notOk(body.error.details)
    return body.error.message as string
  }
  const broken: [string, string][] = [
    ['{"name":}', 'at line 1, column 9, expected a value, found "}"'],
    ['{\n  "name": "x",\n}', 'at line 3, column 1, expected a member name in double quotes, found "}"'],
    ['{"name": "x"', 'at line 1, column 13, expected "}", found the end of the body'],
    ['{"name": "x" "y": 1}', 'at line 1, column 14, expected "," or the end of the object or array, found "\\"y\\""'],
    ["{'name': 1}", 'at line 1, column 2, expected a value, a quoted name or punctuation, found "\'name\'"'],
    ['{"name":"x"} {}', 'at line 1, column 14, expected the end of the body, found "{"'],
    ['{"name":"x\n"}', 'at line 1, column 9, found a string without end or with a line break in it: "\\"x"'],
    ['// {}', 'at line 1, column 1, comments are not allowed, found "// {}"'],
    ['{"name": 1.}', 'at line 1, column 10, found the unfinished number "1."'],
  ]
  for (const [raw, message] of broken) t.equal(await messageOf(raw), `The body is not valid JSON: ${message}.`)
  t.equal(await messageOf('[1]'), 'The body must be a JSON object, not an array.')
  t.match(await messageOf(Buffer.from('{"name":"\u00e9"}', 'latin1')), 'not UTF-8')
  t.match(await messageOf('{}', { 'content-encoding': 'gzip' }), 'incorrect header check')
  t.match(await messageOf(gzipSync('{"name":}'), { 'content-encoding': 'gzip' }), 'column 9')
  const long = await messageOf(`{"name": ${'s3cret'.repeat(100)}}`)
  t.ok(long.includes('s3crets3crets3crets3') && !long.includes('s3crets3crets3crets3c'), 'little of it is repeated')
  t.equal(await messageOf('['.repeat(100_000)), 'The body is not valid JSON.', 'too deep for a place')
})

t.test('whoever forgets Bearer is told so, and never shown the token', async (t) => {
  const { token = '' } = client
  const refusalOf = async (authorization?: string, path = '/me') => {
    const reply = await new Client({ origin }).get(path, authorization === undefined ? {} : { authorization })
    t.equal(reply.status, 401)
    for (const part of token.split('_').slice(2)) t.notMatch(reply.text, part)
    return reply.body.error as { code: string; message: string }
  }
  const form = 'send "Authorization: Bearer <token>"'
  t.match(await refusalOf(), { code: 'missing_token', message: `is missing: ${form}` })
  t.match(await refusalOf(token), { code: 'invalid_token', message: `has no "Bearer" before the token: ${form}` })
  t.match(await refusalOf('Bearer'), { code: 'invalid_token', message: `has no token after "Bearer": ${form}` })
  t.match(await refusalOf(`Bearer ${token} ${token}`), { message: `has more than one token after "Bearer": ${form}` })
  for (const scheme of ['Basic', token]) {
    t.match(await refusalOf(`${scheme} ${token}`), { message: `has another scheme than "Bearer": ${form}` })
  }
  t.match(await refusalOf(`Bearer ${token}x`), { code: 'invalid_token', message: 'must be svc_tok_<id>_<secret>' })
})

t.test('whoever sends a media type that is not taken is told which one came and which are', async (t) => {
  const refusalOf = async (reply: Promise<Reply>) => {
    const { status, body } = await reply
    t.match({ status, code: body.error.code }, { status: 415, code: 'unsupported_media_type' })
    return body.error as { message: string; details: { accepted: string[] } }
  }
  const send = (headers: Record<string, string>) =>
    refusalOf(client.call('POST', '/knowledge-bases', { raw: '{"name":"x"}', headers }))
  t.match(await send({ 'content-type': 'text/plain' }), {
    message: 'The media type text/plain is not supported here; accepted: application/json.',
    details: { accepted: ['application/json'] },
  })
  t.match(await send({ 'content-type': '' }), {
    message: 'The body comes without a media type (Content-Type); accepted: application/json.',
  })
  t.match(await send({ 'content-type': 'application/json; charset=latin1' }), { message: 'charset=latin1' })
  t.match(await send({ 'content-encoding': 'snappy' }), {
    message: 'The Content-Encoding snappy is not supported; send gzip, deflate, br, zstd or none.',
  })
  t.notMatch((await send({ 'content-type': `x/${'y'.repeat(1000)}` })).message, 'y'.repeat(101))
  const { id } = await make(client, [{ type: 'paragraph' }])
  t.match(await refusalOf(client.get(`/documents/${id}/content`, { accept: 'image/png' })), {
    message: /none of the media types that Accept names \(image\/png\); accepted: application\/json, /,
  })
  t.match(await refusalOf(client.post('/attachments', {})), {
    message: 'The media type application/json is not supported here; accepted: multipart/form-data.',
  })
  t.match(await refusalOf(upload(client, { documentId: id, type: 'video/mp4', bytes: 'x' })), {
    message: /^The media type video\/mp4 is not supported here; accepted: .*image\/png/,
  })
})

t.test('every error leads to the place of the guide or the reference where its code is explained', async (t) => {
  const { PUBLIC_ORIGIN } = config
  const reader = new Client({ origin })
  const anchors = anchorsOf((await reader.get('//api-docs.md')).text)
  for (const code of Object.keys(errorCatalogue) as ErrorCode[]) {
    const { error } = errorBody(new Refusal(code), { requestId: 'req_1', origin: PUBLIC_ORIGIN })
    t.ok(error.documentation_url.startsWith(PUBLIC_ORIGIN))
    const [path = '', anchor = ''] = error.documentation_url.slice(PUBLIC_ORIGIN.length).split('#')
    const row = anchors.get(`error-${code}`)
    t.match(row, `\`${code}\``, code)
    if (path === '/api-docs.md') t.equal(anchor, `error-${code}`)
    else t.match(await sectionOf(reader, { path, anchor }), new RegExp(`<code[^>]*>${code}</code>`), code)
    if (path !== '/api-docs.md') t.match(row, `${path}#${anchor}`, 'and the reference leads there, too')
  }
  const replies = [await reader.get('/me'), await reader.get('/nowhere'), await client.post('/documents', {})]
  const addresses = ['/guide/authentication#tokens', ...['route_not_found', 'invalid_request'].map(referenceRow)]
  t.same(
    replies.map(({ body }) => body.error.documentation_url),
    addresses.map((address) => PUBLIC_ORIGIN + address),
  )
})

const referenceRow = (code: string) => `/api-docs.md#error-${code}`

// A section of a chapter of the guide, from its heading to the next heading.
async function sectionOf(reader: Client, place: { path: string; anchor: string }): Promise<string> {
  const { text } = await reader.get(`/${place.path}`)
  return text.split('<h2').find((section) => section.includes(`id="${place.anchor}"`)) ?? ''
}

// The table rows that begin with an anchor, by the id of the anchor.
function anchorsOf(markdown: string): Map<string, string> {
  const tree = remark().use(remarkGfm).parse(markdown)
  const rows = tree.children.flatMap((node) => (node.type === 'table' ? node.children : []))
  return new Map(
    rows.flatMap((row) => {
      const [anchor] = row.children[0]?.children ?? []
      const id = anchor?.type === 'html' ? /^<a id="([^"]+)">$/.exec(anchor.value)?.[1] : undefined
      return id === undefined
        ? []
        : [
            [
              id,
              remark()
                .use(remarkGfm)
                .stringify({ type: 'root', children: [row] }),
            ],
          ]
    }),
  )
}
