import fc from 'fast-check'
import type { Route } from '../../api/http/route.ts'
import { routes } from '../../api/routes/routes.ts'
import { workersOf } from '../../workers/types.ts'
import { anyCharacter } from '../support/any-character.ts'
import { runsTimes } from '../support/runs.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { startWorkers, untilFresh } from '../support/workers.ts'
import { createFixture, pathOf, queryOf, withModel } from './fixtures.ts'
import type { Fixture } from './resources.ts'

const service = await startTestService(t, { ...withModel, CHANGES_WAIT_MS: '0' })
await startWorkers(t, service, workersOf(['search', 'events']))
const owner = await service.signUp()
const fixture = await createFixture(owner)

/** The query parameter that carries the cursor of a route; null where the route has no cursor. */
const parameterOf = ({ path, query }: Route) =>
  'cursor' in (query?.properties ?? {}) ? 'cursor' : path.endsWith('/changes') ? 'after' : null
const paged = routes.filter((spec) => spec.method === 'GET' && parameterOf(spec) !== null)

const hostile = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    {},
    [],
    [[[]]],
    -1,
    0,
    1.5,
    2 ** 31,
    2 ** 53,
    2 ** 63,
    1e300,
    -1e300,
    8.64e15,
    -8.64e15,
    -1e14,
    2 ** 40,
  ),
  fc.constantFrom<unknown>(
    ...['', 'a\u0000b', '\ud800', '__proto__', "'; DROP TABLE users", 'x'.repeat(300), '9'.repeat(40)],
  ),
  fc.integer(),
  fc.double(),
  fc.string({ unit: anyCharacter, maxLength: 20 }),
  fc.jsonValue({ maxDepth: 4 }),
)
const encoded = (text: string) => Buffer.from(text).toString('base64url')
const anyText = fc.oneof(
  fc.array(hostile, { maxLength: 8 }).map((members) => encoded(JSON.stringify(members))),
  fc.jsonValue().map((value) => encoded(JSON.stringify(value))),
  fc.constantFrom(
    '',
    'x',
    '!!!',
    'AA==',
    encoded('NaN'),
    encoded('[NaN]'),
    encoded('[1e999]'),
    encoded('[{"toString":{}}]'),
    encoded('['.repeat(300)),
  ),
  fc.constantFrom('A'.repeat(513), 'A'.repeat(6000), encoded(`${'['.repeat(150)}${']'.repeat(150)}`)),
  fc.string({ unit: anyCharacter, maxLength: 40 }).map((text) => text.toWellFormed()),
)

t.test('a cursor that somebody made up is refused as one, by every list', async (t) => {
  for (const spec of paged) {
    const property = fc.asyncProperty(anyText, async (cursor) => {
      const { status, text, body } = await asked(spec, cursor)
      // A text that cannot be stored is refused as a malformed parameter, before it is read as a cursor.
      const isStorable = !cursor.includes('\u0000')
      if (spec.path === '/search/v2' && isStorable) return status === 409 && body.error.code === 'search_cursor_invalid'
      const codes = ['invalid_cursor', 'cursor_sort_mismatch', 'invalid_request']
      if (status === 400 && codes.includes(body.error.code)) return true
      throw new Error(`${spec.path} answered ${status}: ${text.slice(0, 300)}`)
    })
    await fc.assert(property, runsTimes(0.6))
    t.pass(spec.path)
  }
})

t.test('a genuine cursor whose position was replaced breaks no list', async (t) => {
  const genuine = await genuineCursors()
  t.ok(genuine.size >= 10, `of ${genuine.size} lists`)
  for (const [spec, cursor] of genuine) {
    const members = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    const bound = spec.path === '/search/v2' ? 1 : 2
    const forged = fc
      .array(fc.tuple(fc.nat(members.length), hostile), { minLength: 1, maxLength: 3 })
      .map((changes) => {
        const copy: unknown[] = [...members]
        for (const [index, value] of changes) copy[Math.max(bound, index)] = value
        return encoded(JSON.stringify(copy))
      })
    const property = fc.asyncProperty(forged, async (text) => {
      const reply = await asked(spec, text)
      if (reply.status >= 500) throw new Error(`${spec.path} answered ${reply.status}: ${reply.text.slice(0, 300)}`)
    })
    await fc.assert(property, runsTimes(0.6))
    t.pass(spec.path)
  }
})

function asked(spec: Route, cursor: string, more: Record<string, string> = {}) {
  const query = new URLSearchParams({ ...parametersOf(spec), ...more, [parameterOf(spec) ?? '']: cursor })
  return owner.get(`${pathOf(spec, fixture)}?${query}`)
}

function parametersOf(spec: Route): Record<string, string> {
  const known = new URLSearchParams(queryOf(spec, fixture))
  if (spec.path === '/search/v2') {
    known.set('mode', 'exhaustive')
    known.set('q', 'many')
  }
  if ('limit' in (spec.query?.properties ?? {})) known.set('limit', '1')
  known.delete('candidate_id')
  known.delete('document_id')
  return Object.fromEntries(known)
}

// Lists of several items whose first page ends with a cursor.
async function genuineCursors(): Promise<Map<Route, string>> {
  await fill(fixture)
  await untilFresh(owner)
  const found = new Map<Route, string>()
  for (const spec of paged) {
    const query = new URLSearchParams({
      ...parametersOf(spec),
      ...(spec.path.endsWith('/read') && { max_tokens: '64' }),
    })
    const { body } = await owner.get(`${pathOf(spec, fixture)}?${query}`)
    const cursor =
      body?.page?.next_cursor ?? body?.data?.page?.next_cursor ?? body?.data?.next_cursor ?? body?.data?.cursor
    if (typeof cursor === 'string') found.set(spec, cursor)
    else t.comment(`${spec.path} has no second page`)
  }
  return found
}

async function fill({ documentId, folderId, knowledgeBaseId, blockId }: Fixture): Promise<void> {
  await owner.post('/knowledge-bases', { name: 'another' })
  for (const title of ['many one', 'many two', 'many three']) {
    await owner.post('/documents', { title, knowledge_base_id: knowledgeBaseId, folder_id: folderId })
    await owner.post('/concepts', { name: title, knowledge_base_id: knowledgeBaseId })
    const position = { after_block_id: blockId }
    const content = [{ type: 'text', text: `${title} ${'words '.repeat(100)}` }]
    await owner.post(`/documents/${documentId}/blocks`, { position, nodes: [{ type: 'paragraph', content }] })
  }
  for (const predicate of ['contradicts', 'related_to']) {
    const relation = { source_document_id: documentId, source_block_id: blockId, predicate }
    await owner.post('/relations', { ...relation, target_uri: `svc://doc/${documentId}` })
  }
}
