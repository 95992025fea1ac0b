import type { Client } from '../support/client.ts'
import { queryString, searchV2 } from '../support/search.ts'
import { t } from '../support/tap.ts'
import { startSearchService, untilFresh, write } from '../support/workers.ts'

const service = await startSearchService(t)
const ada = await withTexts({
  Kernel: 'The kernel schedules threads.\n\nMemory of the kernel is paged.\n\nDrivers run elsewhere.',
  Memory: 'The memory of elephants lasts.\n\nA kernel of truth.',
  Elephants: 'They drink water and run.',
  'Old kernel': 'Threads were green.\n\nThe kernel was small.',
})

t.test('operators narrow a search as they are documented', async (t) => {
  const expected: Record<string, string[]> = {
    'kernel -memory': ['Kernel: The kernel', 'Memory: A kernel', 'Old kernel', 'Old kernel: The kernel', 'Kernel'],
    'kernel -threads -truth -small': ['Kernel: Memory of', 'Old kernel', 'Kernel'],
    'kernel -"of truth"': ['Kernel: Memory of', 'Kernel: The kernel', 'Old kernel', 'Old kernel: The kernel', 'Kernel'],
    'water OR truth': ['Elephants: They', 'Memory: A kernel'],
    'kernel water OR truth': ['Memory: A kernel'],
    'kernel OR water -small': [
      ...['Elephants: They', 'Kernel', 'Kernel: Memory of', 'Kernel: The kernel', 'Memory: A kernel', 'Old kernel'],
    ],
    'title:kernel': ['Kernel', 'Old kernel'],
    'title:kernel threads': ['Kernel: The kernel', 'Old kernel: Threads'],
    'title:"old kernel" threads': ['Old kernel: Threads'],
    'threads -title:old': ['Kernel: The kernel'],
    'kernel -title:kernel': ['Memory: A kernel'],
    'title:eleph*': ['Elephants'],
    'title:elephants OR truth': ['Elephants', 'Memory: A kernel'],
    'title:elephants OR title:memory': ['Elephants', 'Memory'],
    'kernel title:memory OR small': ['Memory: A kernel', 'Old kernel: The kernel'],
    'title:the title:kernel': ['Kernel', 'Old kernel'],
    'title:the threads': ['Kernel: The kernel', 'Old kernel: Threads'],
    'title:the OR threads': ['Kernel: The kernel', 'Old kernel: Threads'],
    'the title:kernel': ['Kernel', 'Old kernel'],
    'title:kernel OR the': ['Kernel', 'Old kernel'],
    'title:"the" threads': [],
    'title:the': [],
    'eleph*': ['Elephants', 'Memory: The memory'],
    'kernel eleph*': [],
    'run -elsewh*': ['Elephants: They'],
    'schedul* OR gree*': ['Kernel: The kernel', 'Old kernel: Threads'],
    '"kernel schedules"': ['Kernel: The kernel'],
  }
  for (const [q, hits] of Object.entries(expected)) {
    for (const mode of ['topk', 'exhaustive']) t.strictSame(await hitsOf(q, { mode }), hits.toSorted(), `${mode} ${q}`)
  }
})

t.test('what does not parse is literal', async (t) => {
  const literal: Record<string, string> = {
    'kernel - memory': 'kernel memory',
    'kernel or memory': 'kernel or memory',
    'OR kernel': 'or kernel',
    'kernel OR': 'kernel or',
    'kernel OR OR memory': 'kernel or memory',
    'title: kernel': 'title kernel',
    'k* kernel': 'k kernel',
    '* kernel': 'kernel',
    'ker*nel': 'ker nel',
    '--memory kernel': 'memory kernel',
    'drivers"': 'drivers',
    'kernel -…': 'kernel',
    'Title:kernel': '"title kernel"',
  }
  for (const [q, plain] of Object.entries(literal)) {
    t.strictSame(await hitsOf(q), await hitsOf(plain, { syntax: 'plain' }), q)
  }
  t.strictSame(await hitsOf('kernel -memory', { syntax: 'plain' }), await hitsOf('kernel memory', { syntax: 'plain' }))
})

t.test('a query of exclusions alone is refused with the place where it begins to exclude', async (t) => {
  const positions: Record<string, number> = {
    '-memory': 0,
    '-memory -"a b"': 0,
    '… -kernel': 4,
    '😀… -kernel': -1,
    '-title:a': 0,
  }
  for (const [q, position] of Object.entries(positions)) {
    for (const path of ['/search', '/search/v2']) {
      const { status, body } = await ada.get(`${path}?${queryString({ q, syntax: 'operators' })}`)
      if (position < 0) t.equal(status, 200, q)
      else {
        t.equal(status, 400, q)
        t.match(body.error, { code: 'invalid_query', details: { position } }, q)
      }
    }
  }
  t.equal((await ada.get(`/search/v2?${queryString({ q: '-memory' })}`)).status, 200, 'in plain syntax it is a word')
})

t.test('version 1 knows operators, too', async (t) => {
  const { body } = await ada.get(`/search?${queryString({ q: 'threads -title:old', syntax: 'operators' })}`)
  t.match(body.data, [{ title: 'Kernel', matched_in: 'content' }])
  t.equal(body.data.length, 1)
})

t.test('a cursor belongs to the syntax in which the query was read', async (t) => {
  const first = await searchV2(ada, { q: 'kernel -small', syntax: 'operators', mode: 'exhaustive', limit: 1 })
  const next = { q: 'kernel -small', mode: 'exhaustive', limit: 1, cursor: first.page.next_cursor }
  t.match(await ada.get(`/search/v2?${queryString(next)}`), {
    status: 409,
    body: { error: { code: 'search_cursor_invalid' } },
  })
  const all: string[] = [labelOf(first.results[0])]
  let cursor = first.page.next_cursor
  while (cursor !== null) {
    const page = await searchV2(ada, { ...next, cursor, syntax: 'operators' })
    all.push(...page.results.map(labelOf))
    cursor = page.page.next_cursor
  }
  t.strictSame(all.toSorted(), await hitsOf('kernel -small'))
})

t.test('exclusions and titles hold for relaxed hits and for words still being typed', async (t) => {
  const relaxed = await searchV2(ada, { q: 'kernel threads zebra -green', syntax: 'operators' })
  t.ok(relaxed.results.length > 0)
  for (const hit of relaxed.results) t.match(hit, { score_explanation: { relaxed: true } })
  t.notOk(relaxed.results.map(labelOf).includes('Old kernel: Threads'))
  t.strictSame(await hitsOf('title:old thr', { typing: 'true' }), ['Old kernel: Threads'])
  t.strictSame(await hitsOf('truth OR thr', { typing: 'true' }), [
    'Kernel: The kernel',
    'Memory: A kernel',
    'Old kernel: Threads',
  ])
  t.equal((await searchV2(ada, { q: 'kernal -title:old', syntax: 'operators' })).suggestion, 'kernel -title:old')
})

t.test('no query of operators is refused or slow, whatever it is made of', async (t) => {
  const hostile = [
    `${'a OR '.repeat(39)}ab`,
    '-a '.repeat(66),
    `kernel ${'-a '.repeat(64)}`.trim(),
    'title:a '.repeat(25).trim(),
    `kernel ${'title:k* OR ab '.repeat(12)}`.trim(),
    'ab* '.repeat(50).trim(),
    `${'OR '.repeat(66)}`.trim(),
    '-'.repeat(200),
    'title:'.repeat(33),
    '*'.repeat(200),
    '"-"'.repeat(66),
    `-"${'a '.repeat(98)}"`,
    '漢 OR -字 title:仮名 ท*',
  ]
  for (const q of hostile) {
    for (const mode of ['topk', 'exhaustive']) {
      const { status } = await ada.get(`/search/v2?${queryString({ q, mode, syntax: 'operators' })}`)
      t.ok(status === 200 || (status === 400 && q.startsWith('-')), `${status} ${q.slice(0, 40)}`)
    }
  }
})

async function withTexts(texts: Record<string, string>): Promise<Client> {
  const client = await service.signUp()
  for (const [title, text] of Object.entries(texts)) await write(client, text, { title })
  await untilFresh(client)
  return client
}

type Labelled = {
  title: string
  block_id: string | null
  context: { before: string | null; match: string; after: string }
}

/** The hits of a query with operators, each as its title and, for a block, its first two words. */
async function hitsOf(q: string, members: Record<string, string | number> = {}): Promise<string[]> {
  const { results } = await searchV2(ada, { q, syntax: 'operators', ...members })
  return results.map(labelOf).sort()
}

function labelOf({ title, block_id, context }: Labelled): string {
  const text = `${context.before ?? ''}${context.match}${context.after ?? ''}`
  const words = text.split(' ')
  return block_id === null
    ? title
    : `${title}: ${words.slice(0, /^(The|A|Memory)$/.test(words[0] ?? '') ? 2 : 1).join(' ')}`
}
