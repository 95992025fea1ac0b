import fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'
import { queryString, searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { startSearchService, untilFresh, write } from '../support/workers.ts'

const service = await startSearchService(t)
const ada = await service.signUp()
await write(ada, `Drop the table: \`users'; --\` and it's "over" — a & b | !c <-> d:*`)
await untilFresh(ada)

const hostile = [
  'a & b | !c',
  '!!!',
  'foo:* & bar',
  "':*' <-> 'x'",
  'a <2> b',
  '((((',
  '))))',
  "it's",
  "'; DROP TABLE documents; --",
  "' OR '1'='1",
  '\\',
  "\\'",
  "a\\' | b",
  '"',
  '""',
  '"""',
  '"a" "b',
  '$1 $$ %s',
  '@w1 @k1',
  '1^kernel ~stem',
  '😀'.repeat(200),
  '👩‍👩‍👧'.repeat(40),
  `e${'\u0301'.repeat(199)}`,
  '\u0301'.repeat(200),
  '\u200b\u200d\ufeff\u202e x',
  '\u0001\u0007\u001b[31m\u007f',
  '\t\n\r x',
  'ﷺ'.repeat(11),
  'a'.repeat(200),
  '漢'.repeat(200),
  'ก'.repeat(200),
  Array.from({ length: 100 }, (_, index) => String.fromCodePoint(0x61 + (index % 26))).join(' '),
  `${'ab '.repeat(66)}ab`,
  '"a b" '.repeat(33).trim(),
  '/'.repeat(200),
  'a/'.repeat(100),
  'a_'.repeat(100),
  '..',
  '\ue000\uffff\u{10ffff}',
  'İıſK',
]

t.test('no query breaks the search, whatever it is made of', async (t) => {
  for (const q of hostile) {
    for (const path of [`/search?${queryString({ q })}`, ...['topk', 'exhaustive'].map((mode) => v2(q, mode))]) {
      const { status, body } = await ada.get(path)
      t.equal(status, 200, `${path.slice(0, 12)} ${JSON.stringify(q).slice(0, 60)}`)
      t.ok(Array.isArray(body.data.results ?? body.data))
    }
  }
  t.match((await searchV2(ada, { q: 'drop table' })).results, [{ match_count: 2 }], 'and all is still there')
})

t.test('punctuation between words is not required, and without a word nothing is found', async (t) => {
  for (const q of ['drop → table!', '— drop & table …', '* drop | (table)']) {
    t.match((await searchV2(ada, { q })).results, [{ match_count: 2 }], q)
  }
  for (const q of ['???', '"', '→', '" — "', '& | !', '…']) {
    for (const mode of ['topk', 'exhaustive']) {
      const { results, page, projection } = await searchV2(ada, { q, mode })
      t.strictSame(results, [], q)
      t.match({ page, projection }, { page: { has_more: false, next_cursor: null }, projection: { complete: true } })
    }
    t.match(await ada.get(`/search?${queryString({ q })}`), { status: 200, body: { data: [] } })
  }
})

t.test('a random query is answered or clearly refused', async (t) => {
  const unit = fc.oneof(fc.constantFrom(...`'"\\&|!<>():*@^~ -_/.`), fc.string({ unit: anyCharacter, minLength: 1 }))
  await fc.assert(
    fc.asyncProperty(fc.array(unit, { maxLength: 60 }), fc.constantFrom('topk', 'exhaustive'), async (units, mode) => {
      const { status, text, body } = await ada.get(v2(units.join(''), mode))
      const isClear = status === 200 || (status === 400 && body.error.code === 'invalid_request')
      if (!isClear) throw new Error(`${status} ${text}`)
    }),
  )
  t.pass('200 or 400')
})

t.test('the length of a query is that of its composed letters, without the space around it', async (t) => {
  const accepted = [
    'é'.repeat(200),
    'e\u0301'.repeat(200),
    `${' '.repeat(50)}x\u00a0\u3000`,
    '😀'.repeat(200),
    '가'.repeat(200),
  ]
  for (const q of accepted) {
    const { query } = await searchV2(ada, { q })
    t.equal(query, q.normalize('NFKC').trim())
  }
  const refused = ['', '   ', '\u3000\u00a0', 'x'.repeat(201), '😀'.repeat(201), 'ﷺ'.repeat(12), 'a\u0000b']
  for (const q of refused) {
    for (const path of [`/search?${queryString({ q })}`, v2(q, 'topk')]) {
      const reply = await ada.get(path)
      t.match(reply, {
        status: 400,
        body: { error: { code: 'invalid_request', details: { fields: [{ path: '?q' }] } } },
      })
    }
  }
  t.match(await ada.get('/search/v2?q=%ED%A0%80'), { status: 200 }, 'bytes that are no text are read as one sign')
})

t.test('a parameter that is missing, repeated or out of range is named', async (t) => {
  const refused: [string, string][] = [
    ['', '?q'],
    ['q=a&q=b', '?q'],
    ['q=a&limit=0', '?limit'],
    ['q=a&limit=101', '?limit'],
    ['q=a&limit=ten', '?limit'],
    ['q=a&limit=1e1', '?limit'],
    ['q=a&limit=1&limit=2', '?limit'],
    ['q=a&knowledge_base_id=0', '?knowledge_base_id'],
    ['q=a&knowledge_base_id=x', '?knowledge_base_id'],
    ['q=a&knowledge_base_id=99999999999999999999', '?knowledge_base_id'],
  ]
  const onlyV2: [string, string][] = [
    ['q=a&mode=all', '?mode'],
    ['q=a&mode=', '?mode'],
    ['q=a&include_summary=maybe', '?include_summary'],
  ]
  for (const [path, cases] of [
    ['/search', refused],
    ['/search/v2', [...refused, ...onlyV2]],
  ] as const) {
    for (const [query, field] of cases) {
      const error = { code: 'invalid_request', details: { fields: [{ path: field }] } }
      t.match(await ada.get(`${path}?${query}`), { status: 400, body: { error } }, `${path}?${query}`)
    }
  }
  t.equal((await ada.get('/search?q=a&mode=all&cursor=x&colour=red')).status, 200, 'unknown ones are ignored')
  for (const asked of [true, false]) {
    const { results } = await searchV2(ada, { q: 'table', include_summary: String(asked) })
    t.equal('summary' in results[0], asked, 'a summary comes when it is asked for')
  }
})

function v2(q: string, mode: string): string {
  return `/search/v2?${queryString({ q, mode })}`
}
