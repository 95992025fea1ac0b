import fc from 'fast-check'
import Type, { type TSchema } from 'typebox'
import { searchRoutes } from '../../api/routes/search/search.ts'
import type { Reply } from '../support/client.ts'
import { runs } from '../support/runs.ts'
import { t } from '../support/tap.ts'
import { startSearchService, untilFresh, write } from '../support/workers.ts'

/*
 * All parameters of a search together: whatever combination of right values is sent, the answer is one that the
 * description names, and its members agree with each other. What each parameter means has tests of its own.
 */

type Parameter = [name: string, value: string | number | boolean]
type Hit = {
  snippet: string | null
  context: { before: string | null; match: string; after: string | null }
  highlights?: [number, number][]
  matched_in: string
  more_in_document?: number
  document_id: string
}

const service = await startSearchService(t)
const ada = await service.signUp()
const words = [
  ...['heron', 'herons', 'Cafés', 'cafe\u0301', '日本語', 'ภาษาไทย', '😀', 'fetchUser_v2', 'v2.1.0', 'Straße', '𠮷野'],
]
const { knowledge_base_id: base } = await write(ada, 'heron')
const folder = (await ada.post('/folders', { name: 'Folder', knowledge_base_id: base })).body.data.id
const written = await Promise.all(
  words.map((word, index) => {
    const text = `${word} ${words.toReversed().join(', ')}\n\n## ${word}\n\n- ${words.join(' ')}\n\n${word.repeat(2)} 😀 ${word}`
    return write(ada, text, { title: `${word} ${words[index + 1] ?? ''}`, knowledge_base_id: base, folder_id: folder })
  }),
)
await untilFresh(ada)

/** Right values of the parameters whose schemas are texts. */
const texts: Record<string, (string | number)[]> = {
  knowledge_base_id: [base],
  folder_id: [folder],
  document_id: written.map(({ id }) => id),
  updated_by: [ada.user_id],
  updated_after: [0, '2020-01-01'],
  updated_before: ['2999-01-01'],
  locale: ['all'],
}

for (const spec of searchRoutes) {
  t.test(`any parameters of ${spec.path} go together, or are refused as a bad request`, async (t) => {
    const seen = new Map<number, number>()
    await fc.assert(
      fc.asyncProperty(queryOf(spec.query ?? Type.Object({})), async (query) => {
        const pairs = query.map(([name, value]): [string, string] => [name, String(value)])
        const reply = await ada.get(`${spec.path}?${new URLSearchParams(pairs)}`)
        seen.set(reply.status, (seen.get(reply.status) ?? 0) + 1)
        if (reply.status !== 200) return refusedRightly(reply)
        for (const hit of hitsOf(reply)) agrees(hit, query)
      }),
    )
    t.ok((seen.get(200) ?? 0) > runs.numRuns / 5, JSON.stringify([...seen]))
  })
}

function refusedRightly({ status, text, body }: Reply): void {
  const isBadRequest = status === 400 && ['invalid_request', 'invalid_query'].includes(body.error.code)
  const isCursor = status === 409 && body.error.code === 'search_cursor_invalid'
  if (!isBadRequest && !isCursor) throw new Error(`${status} ${text}`)
}

function hitsOf({ body }: Reply): Hit[] {
  return Array.isArray(body.data) ? body.data : body.data.results
}

function agrees(hit: Hit, query: readonly Parameter[]): void {
  const asked = (name: string) => query.find(([other]) => other === name)?.[1]
  const { highlights, more_in_document: more } = hit
  if ((highlights !== undefined) !== (asked('highlight') === true)) throw new Error(`highlights: ${highlights}`)
  if ((more !== undefined) !== (asked('group_by') !== undefined)) throw new Error(`more_in_document: ${more}`)
  if (highlights === undefined) return
  const { before, match, after } = hit.context ?? { before: hit.snippet, match: '', after: null }
  const shown = Array.from(`${before ?? ''}${match}${after ?? ''}`)
  let past = 0
  for (const [start, end] of highlights) {
    if (start < past || end <= start || end > shown.length) throw new Error(`[${start}, ${end}) of ${shown.length}`)
    past = end
  }
  const isTitleOfV1 = hit.context === undefined && hit.matched_in === 'title'
  if ((highlights.length === 0) !== isTitleOfV1) throw new Error(`${highlights.length} highlights`)
  // In version 2 the first match is known, and the first range begins with it.
  const begins = Array.from(before ?? '').length
  if (hit.context !== undefined && highlights[0]?.[0] !== begins) throw new Error(`${highlights[0]} at ${begins}`)
}

/** Queries with a text and some other parameters, each at most once, with values that their schemas allow. */
function queryOf({ properties }: { properties: Record<string, TSchema> }): fc.Arbitrary<Parameter[]> {
  // A cursor belongs to one search, so no other search has a right one.
  const { q: _, cursor: __, ...others } = properties
  const optional = Object.entries(others).map(([name, schema]) => fc.option(parameterOf(name, schema), { freq: 3 }))
  const text = fc.array(fc.constantFrom(...words, '"heron cafe"', '-heron', 'title:heron', 'her*', 'OR'), {
    minLength: 1,
    maxLength: 3,
  })
  return fc.tuple(text, fc.tuple(...optional)).map(([text, parameters]) => {
    return [['q', text.join(' ')], ...parameters.filter((parameter) => parameter !== null)]
  })
}

type Values = { enum?: (string | number)[]; type?: string; minimum?: number; maximum?: number }

function parameterOf(name: string, schema: TSchema & Values): fc.Arbitrary<Parameter> {
  if (Type.IsArray(schema)) return parameterOf(name, schema.items)
  if (Type.IsRecord(schema)) return fc.constantFrom('status', 'owner').map((key) => [`${name}[${key}]`, 'open'])
  const { enum: options = [], type, minimum = 0, maximum = 10 } = schema
  if (options.length > 0) return fc.constantFrom(...options).map((value) => [name, value])
  if (type === 'boolean') return fc.boolean().map((value) => [name, value])
  if (type === 'integer')
    return fc.integer({ min: minimum, max: Math.min(maximum, minimum + 20) }).map((value) => [name, value])
  return fc.constantFrom(...(texts[name] ?? ['x'])).map((value) => [name, value])
}
