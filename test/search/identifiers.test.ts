import { parseQuery } from '../../shared/search/matching/grammar.ts'
import { matchTerms } from '../../shared/search/matching/match.ts'
import { t } from '../support/tap.ts'

const probes = [
  {
    text: 'see src/lib/db.ts for it',
    found: ['src/lib/db.ts', 'db.ts', 'lib/db.ts', 'db', 'DB.TS', '"src lib"'],
    not: ['lib.ts', 'src/db.ts'],
  },
  {
    text: 'it calls fetchUser_v2 twice',
    found: ['fetchUser_v2', 'fetchuser_v2', 'fetchUser', 'fetchuser', 'user', 'v2', 'users'],
    not: ['fetch_v2', 'userFetch', 'v'],
  },
  {
    text: 'open C:\\dir\\readMe.txt now',
    found: ['C:\\dir\\readMe.txt', 'readme.txt', 'readMe', 'dir', 'c:'],
    not: ['dir.txt'],
  },
  {
    text: 'an HTTPServer of std::vector',
    found: ['httpserver', 'HTTPServer', 'server', 'http', 'std::vector', 'vector'],
    not: ['https', 'vector::std'],
  },
  {
    text: 'write to jane.doe@example.org',
    found: ['jane.doe@example.org', 'example.org', 'jane', 'doe@example.org'],
    not: ['jane@example.org'],
  },
  {
    text: 'at https://example.com/a/b?c=d#e',
    found: ['https://example.com/a/b?c=d#e', 'example.com', 'example.com/a/b'],
    not: ['example.com/b'],
  },
  { text: 'taught in C++ and F#', found: ['C++', 'c++', 'F#', 'c', '"C++ and F"'], not: ['c#', 'f++'] },
  {
    text: 'set MAX_RETRY_COUNT to 3.14',
    found: ['MAX_RETRY_COUNT', 'max_retry_count', 'retry', 'maxRetryCount', '3.14'],
    not: ['max_count', '3.1'],
  },
  { text: 'run npm-run-all --parallel', found: ['npm-run-all', 'npm', '--parallel', 'parallel'], not: ['npm-all'] },
  {
    text: 'released as v1.10.0-rc.2',
    found: ['v1.10.0-rc.2', 'v1.10.0', '10.0-rc.2', 'rc.2', '1.10.0', '1.10.0-rc.2', '"as 1.10.0"', 'v1'],
    not: ['v1.1', 'v1.0', '1.1'],
  },
  {
    text: 'id 01HZX4-9f3b (kb:42)',
    found: ['01HZX4-9f3b', '01hzx4-9f3b', '9f3b', 'kb:42', '42', '(kb:42)'],
    not: ['kb:4', '9f3'],
  },
  {
    text: 'call foo(barBaz, 1,000)',
    found: ['foo(barBaz,', 'barbaz', '1,000', 'foo', 'baz'],
    not: ['foo(baz', '1000'],
  },
]

for (const { text, found, not } of probes) {
  t.test(`a developer finds what stands in "${text}", whole and by its parts in order`, async (t) => {
    for (const q of found) t.ok(find(text, q).first, q)
    for (const q of not) t.equal(find(text, q).first, null, q)
  })
}

t.test('a version is found with and without its v, and only as a version', async (t) => {
  for (const text of ['needs 2.1.0 or later', 'needs v2.1.0 or later', 'see refs/tags/V2.1.0']) {
    for (const q of ['2.1.0', 'v2.1.0', 'V2.1', '"v2.1.0"']) t.ok(find(text, q).first, `${q} in ${text}`)
  }
  t.same(find('needs v2.1.0', '2.1.0').first, { start: 6, end: 12 }, 'and shown whole')
  t.equal(find('needs v2.1.0 and 2.1.0', 'v2.1.0').matchCount, 2)
  t.ok(find('it calls fetchUser_v2.1', 'user_v2.1').first)
  t.equal(find('section 2', 'v2').first, null)
  t.equal(find('needs v2.10', '2.1').first, null)
})

t.test('a name with capitals inside is one word of its sentence', async (t) => {
  t.ok(find('see GitHub Actions', '"github actions"').first)
  t.ok(find('the iPhone now', '"The iPhone now"').first)
  t.ok(find('some javascript code', '"JavaScript code"').first)
  t.ok(find('PostgreSQL数据库', 'postgresql数据库').first)
  t.ok(find('call lib/fetchUser.ts', 'lib/fetchuser').first)
  t.ok(find('fetchUser and more', '"fetch user"').first)
  t.equal(find('fetchUser sendMail', '"user send"').first, null)
})

t.test('an identifier counts once, though it is indexed whole and in parts', async (t) => {
  t.equal(find('fetchUser_v2 and fetchUser_v2', 'fetchUser_v2').matchCount, 2)
  t.same(find('see src/lib/db.ts', 'lib/db.ts').first, { start: 8, end: 17 })
})

function find(text: string, q: string) {
  return matchTerms(text, { query: parseQuery(q), languages: ['en'] })
}
