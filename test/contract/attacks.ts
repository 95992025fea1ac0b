import fc from 'fast-check'
import Type, { type TSchema } from 'typebox'
import type { Route } from '../../api/http/route.ts'
import { anyCharacter } from '../support/any-character.ts'
import { form, type Part } from '../support/attachments.ts'
import { bodyOf, partsOf, pathOf } from './fixtures.ts'
import type { Fixture } from './resources.ts'

/** A hostile call. Its ids are the ids of the fixture at the time of the call. */
export type Attack = {
  path: (fixture: Fixture) => string
  options: (fixture: Fixture) => { raw?: string | Uint8Array; headers: Record<string, string> }
}

/** Hostile calls of a route, in which any of path, query string, headers and body may be wrong. */
export function attackOn(spec: Route): fc.Arbitrary<Attack> {
  const type = spec.multipart === undefined ? {} : form([]).headers
  const payload = spec.multipart === undefined ? payloadFor(spec) : formFor(spec)
  return fc
    .record({ segment: hostileSegment, query: queryFor(spec), headers: hostileHeaders, payload })
    .map((parts) => ({
      path: (fixture) => pathWith(spec, { fixture, segment: parts.segment }) + parts.query,
      options: (fixture) => ({
        headers: { ...type, ...parts.headers },
        ...(spec.method !== 'GET' && { raw: parts.payload(fixture) }),
      }),
      // A function says nothing in a report, so a counterexample is shown as the parts that it was made from.
      [fc.toStringMethod]: () => fc.stringify({ ...parts, payload: parts.payload(sample) }),
    }))
}

const sample: Fixture = {
  knowledgeBaseId: 1,
  folderId: 1,
  documentId: 'doc_1',
  documentSetId: 'docset_1',
  translationId: 'doc_2',
  locale: 'fr',
  unitId: 'tu_1',
  translationJobId: 'tjob_1',
  blockId: 'block_1',
  relationId: 'rel_1',
  conceptId: 'concept_1',
  otherConceptId: 'concept_2',
  candidateId: 'cand_1',
  attachmentId: 'att_1',
  shareId: 'shr_1',
  summaryJobId: 'sjob_1',
  trashId: 'trash_1',
  version: 'sha256:1',
  marker: 'marker',
}

function pathWith(spec: Route, input: { fixture: Fixture; segment: string | null }): string {
  const { fixture, segment } = input
  return segment === null ? pathOf(spec, fixture) : spec.path.replaceAll(/\{\w+\}/g, segment)
}

const hostileText = fc.oneof(
  fc.constantFrom('', ' ', '\u0000', 'a\u0000b', '\ud800', 'x\udc00', '\u202e', "'; DROP TABLE users; --", '%00', '\\'),
  fc.constantFrom(
    '👩‍👩‍👧'.repeat(60),
    'é'.repeat(201),
    'x'.repeat(501),
    'x'.repeat(100_000),
    '__proto__',
    'constructor',
  ),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
)

const hostileNumber = fc.oneof(
  fc.constantFrom(0, -0, -1, 1.5, 2 ** 31, 2 ** 53, 2 ** 63, 1e308, -1e308),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
)

const hostileValue = fc.oneof(
  hostileText,
  hostileNumber,
  fc.constantFrom(null, true, false, [], {}, [[]], { $ref: '#' }),
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom('12', '0012', '9999999999999999', '99999999999999999999', 'doc_x', `doc_${'y'.repeat(65)}`),
)

const hostileSegment = fc.option(
  fc.oneof(
    fc.constantFrom('0', '-1', '1.5', '1e3', '007', '9007199254740993', '9999999999999999', '99999999999999999999'),
    fc.constantFrom('%00', '%ff', '%', '%E0%A4%A', '%2F', 'doc_', 'doc_%00', `doc_${'z'.repeat(64)}`, '%F0%9F%98%80'),
    hostileText.map((text) => encodeURIComponent(text.slice(0, 2000).toWellFormed()) || 'x'),
  ),
  { freq: 3 },
)

// Query strings of a few parameters. Many values are right, so that a call reaches what its parameters do together.
function queryFor(spec: Route): fc.Arbitrary<string> {
  const parameters = Object.entries(spec.query?.properties ?? {})
  const values = fc.oneof(hostileParameter, fc.constantFrom(...storedTexts))
  const anyPair = fc.tuple(fc.constantFrom(...parameters.map(([name]) => name), 'unknown'), values)
  const rightPair = parameters.map(([name, schema]) => rightParameter(name, schema))
  const required = (spec.query?.required ?? []).map((name) => {
    const schema = spec.query?.properties[name]
    return fc.option(schema === undefined ? anyPair : rightParameter(name, schema), { freq: 6 })
  })
  const others = fc.array(rightPair.length === 0 ? anyPair : fc.oneof(anyPair, ...rightPair), { maxLength: 4 })
  return fc.tuple(fc.tuple(...required), others).map(([first, list]) => {
    const pairs = [...first.filter((pair) => pair !== null), ...list]
    return pairs.length === 0 ? '' : `?${pairs.map(([name, value]) => `${name}=${value}`).join('&')}`
  })
}

const hostileParameter = fc.oneof(
  hostileText.map((text) => encodeURIComponent(text.slice(0, 2000).toWellFormed())),
  hostileNumber.map((number) => encodeURIComponent(String(number))),
  fc.constantFrom('', '%', '%ff', '%00', '%ed%a0%80', 'true', '1', '2024-02-30', 'W10', 'bnVsbA', 'a&limit=1&limit=2'),
)

/** A parameter with a value that its schema allows. A number is near its minimum: a wait of seconds takes seconds. */
function rightParameter(name: string, schema: TSchema & RightValues): fc.Arbitrary<[name: string, value: string]> {
  if (Type.IsArray(schema)) return rightParameter(name, schema.items)
  if (Type.IsRecord(schema)) {
    const inner = fc.oneof(fc.constantFrom('status', 'owner', '__proto__', 'a][b'), hostileText)
    return fc
      .tuple(inner, hostileParameter)
      .map(([key, value]) => [`${name}[${encodeURIComponent(key.slice(0, 100).toWellFormed())}]`, value])
  }
  const { enum: options = [], type, minimum = 0 } = schema
  if (options.length > 0) return fc.constantFrom(...options).map((value) => [name, encodeURIComponent(value)])
  if (type === 'boolean') return fc.boolean().map((value) => [name, String(value)])
  if (type === 'integer') return fc.integer({ min: minimum, max: minimum + 9 }).map((value) => [name, String(value)])
  return fc.constantFrom(...rightTexts(name)).map((value) => [name, encodeURIComponent(value)])
}

type RightValues = { enum?: (string | number)[]; type?: string; minimum?: number }

function rightTexts(name: string): readonly string[] {
  if (name === 'q') return queries
  return /_(after|before)$/.test(name) ? times : storedTexts
}

const storedTexts = ['1', 'x', 'fr', 'all', 'de-CH', 'doc_1', 'usr_1', '2'] as const

const times = ['0', '1732233600000', '2024-02-29', '2024-01-01T00:00:00Z', '275760-09-13', '-1', '8640000000000001']

// Words, phrases and operators, whole and in pieces.
const queries = [
  ...['marker', 'mark', 'x', 'x x x', '"x"', '"x', '""', '-', '--', '-x', '-"x"', 'x -x', 'x -"x y"', 'x -', '-x -y'],
  ...['OR', 'x OR', 'OR x', 'x OR y', 'x OR OR y', 'x OR -y', 'x OR y z', 'x or y', 'NOT x', 'x AND y'],
  ...['title:x', 'title:', 'title:"x y"', '-title:x', 'title:x*', 'Title:x', 'title:title:x', 'body:x', 'x*', 'ma*'],
  ...['*', '**', '"ma*"', '-ma*', 'x -ma*', 'ma*rker', '日*', '日', 'ไ*', '👩*', 'C++*', 'src/li*', 'v2.*'],
  ...['(x OR y) z', 'x~', 'x^2', "x & y | !z:*A<->'b'", '\\', '\u0301x', 'x\u00ad', '%_', 'ﬁ', 'ß*', 'fetchUser_v2'],
  ...['a-b-c', 'v2.1.0', 'x '.repeat(100).trim(), '-x '.repeat(60).trim(), 'a*b*'.repeat(20), `${'x OR '.repeat(30)}x`],
]

const headerText = fc.oneof(
  fc.constantFrom(
    ...['*', '""', '"x"', 'W/"x"', 'sha256:00', '"sha256:', ',', '"a", "b"', '\u00e9', 'x'.repeat(129), 'key'],
  ),
  fc.stringMatching(/^[\x21-\x7e]{1,40}$/),
)

const hostileHeaders = fc
  .record(
    {
      'idempotency-key': headerText,
      'if-match': headerText,
      'if-none-match': headerText,
      'x-request-id': headerText,
      'user-agent': headerText,
      accept: fc.constantFrom('*/*', 'text/html', 'application/json', ';;;', ''),
      'content-type': fc.constantFrom(
        ...['application/json; charset=utf-16', 'application/json; charset=nonsense'],
        ...['application/vnd.svc.document+json', 'text/plain', 'multipart/form-data', ';'],
      ),
      'content-encoding': fc.constantFrom('gzip', 'identity', 'nonsense'),
    },
    { requiredKeys: [] },
  )
  // Most calls have the right media type, so that they reach the checks after the media type.
  .chain((headers) =>
    fc.nat(9).map((dice) => {
      const { 'content-type': _type, 'content-encoding': _encoding, ...others } = headers
      return dice === 0 ? headers : others
    }),
  )

const deep = 20_000

function payloadFor(spec: Route): fc.Arbitrary<(fixture: Fixture) => string> {
  const names = membersOf(spec)
  const mutated = fc
    .dictionary(fc.constantFrom(...names, 'unknown', '__proto__'), hostileValue, { minKeys: 0, maxKeys: 3 })
    .map((members) => (fixture: Fixture) => JSON.stringify({ ...bodyOf(spec, fixture), ...members }))
  const planted = fc.tuple(fc.array(fc.nat(20), { minLength: 1, maxLength: 5 }), hostileValue).map(
    ([turns, value]) =>
      (fixture: Fixture) =>
        JSON.stringify(plant({ into: bodyOf(spec, fixture), turns, value })),
  )
  const raw = fc.constantFrom(
    '',
    '[]',
    'null',
    '"text"',
    '{',
    '\u0000',
    '\ufeff{}',
    '{"a":1e999}',
    '{"name":123456789012345678901234567890}',
    '[['.repeat(deep),
    `${'['.repeat(deep)}${']'.repeat(deep)}`,
    `${'{"content":'.repeat(deep)}1${'}'.repeat(deep)}`,
    `{"title":"x","name":"x","unknown":${'['.repeat(deep)}${']'.repeat(deep)}}`,
  )
  const arbitrary = fc.oneof(fc.jsonValue({ maxDepth: 4 }), hostileValue).map((value) => JSON.stringify(value))
  return fc.oneof(
    { weight: 4, arbitrary: mutated },
    { weight: 3, arbitrary: planted },
    { weight: 1, arbitrary: fc.oneof(raw, arbitrary).map((text) => () => text) },
  )
}

// A valid form in which some parts are replaced, and which may break off anywhere.
function formFor(spec: Route): fc.Arbitrary<(fixture: Fixture) => Uint8Array> {
  const names = [spec.multipart?.file ?? '', ...membersOf(spec), 'unknown', '__proto__', '"']
  const bytes = fc.oneof(hostileText, fc.uint8Array({ maxLength: 200 }))
  const part: fc.Arbitrary<Part> = fc.record(
    { name: fc.constantFrom(...names), filename: hostileText, type: hostileText, bytes },
    { requiredKeys: ['name', 'bytes'] },
  )
  return fc
    .record({ parts: fc.array(part, { maxLength: 3 }), keep: fc.nat(2), end: fc.option(fc.nat(500), { freq: 3 }) })
    .map(({ parts, keep, end }) => (fixture) => {
      const { raw } = form([...partsOf(spec, fixture).slice(2 - keep), ...parts])
      return end === null ? raw : raw.subarray(0, end)
    })
}

// Replaces one value in a valid body. Each number of the path chooses a member at one level.
function plant(input: { into: unknown; turns: readonly number[]; value: unknown }): unknown {
  const { into, turns, value } = input
  const [turn, ...others] = turns
  if (turn === undefined || typeof into !== 'object' || into === null) return value
  const keys = Object.keys(into)
  if (keys.length === 0) return value
  const chosen = keys[turn % keys.length]
  const replaced = Object.entries(into).map(([key, inner]): [string, unknown] => [
    key,
    key === chosen ? plant({ into: inner, turns: others, value }) : inner,
  ])
  return Array.isArray(into) ? replaced.map(([, inner]) => inner) : Object.fromEntries(replaced)
}

// The members of every variant of the body, and the members of the objects one level below.
function membersOf(spec: Route): string[] {
  const names = JSON.stringify(spec.body ?? {}).matchAll(/"properties":\{"(\w+)"|\},"(\w+)":\{/g)
  return [...new Set([...names].flatMap(([, first, later]) => first ?? later ?? []))]
}
