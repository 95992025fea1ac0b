import fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'
import type { Client } from '../support/client.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { signedInVisitor, type Visit, Visitor } from '../support/visitor.ts'
import { startSearchService, untilFresh } from '../support/workers.ts'

const service = await startSearchService(t)

t.test('a person finds a text with its place, its heading and the words that match', async (t) => {
  const { ada, browser } = await person()
  const base = (await ada.post('/knowledge-bases', { name: 'Zoo <b>' })).body.data.id
  const folder = (await ada.post('/folders', { name: 'Animals', knowledge_base_id: base })).body.data.id
  const id = await written(ada, {
    title: 'Elephants & more',
    content: '# Water\n\nAn elephant drinks **a hundred litres** a day.\n\n```\nlitres = 100\n```',
    knowledge_base_id: base,
    folder_id: folder,
  })
  await untilFresh(ada)
  const page = await browser.get('/search?q=hundred+litre')
  t.equal(page.status, 200)
  t.match(page.html, '<title>hundred litre – Search</title>')
  t.match(page.html, `<a href="/kb/${base}"><bdi>Zoo &lt;b&gt;</bdi></a>`)
  t.match(page.html, `<a href="/kb/${base}/folders/${folder}"><bdi>Animals</bdi></a>`)
  t.match(page.html, 'Elephants &amp; more')
  t.match(page.html, new RegExp(`href="/d/${id}#block_[^"]+"`))
  t.match(page.html, '<bdi>Water</bdi>')
  t.match(page.html, 'An elephant drinks a <mark>hundred</mark> <mark>litres</mark> a day.')
  t.match(page.html, '1 match in 1 document.')
  t.match(page.html, /Complete<\/span> Searched \d+ documents?, all as they are now/)
  const inTitle = await browser.get('/search?q=title%3Aelephants')
  t.match(inTitle.html, `<h2 dir="auto"><a href="/d/${id}"><mark>Elephants</mark> &amp; more</a></h2>`)
  t.match((await browser.get('/search?q=litres&block_type=codeBlock')).html, '<span class="badge">Code</span>')
})

t.test('the page says when something is not included yet, and never that it does not exist', async (t) => {
  const lagging = await startTestService(t)
  const ada = await lagging.signUp()
  const browser = await signedInVisitor(lagging, { userId: ada.user_id })
  const id = await written(ada, { title: 'New <i>', content: 'milk' })
  const { html } = await browser.get('/search?q=milk')
  t.match(html, 'Nothing was found so far.')
  t.match(html, '1 document of 1 not included yet')
  t.match(html, `<a href="/d/${id}"><bdi>New &lt;i&gt;</bdi></a>`)
  t.match(html, 'href="/search?q=milk&amp;wait_ms=5000"')
  t.notMatch(html, /Nothing was found\.|Complete</)
})

t.test('empty, unknown and misspelled queries lead on', async (t) => {
  const { ada, browser } = await person()
  t.match(await browser.get('/search'), { status: 200, html: 'How to search' })
  t.match((await browser.get('/search?q=%20')).html, '<p id="status" class="status" role="status"></p>')
  t.match((await browser.get('/search?q=milk')).html, 'There is no document to search here.')
  await written(ada, { title: 'Farm', content: 'A cow gives milk in the morning. Hundred litres.' })
  await untilFresh(ada)
  const none = await browser.get('/search?q=giraffe')
  t.match(none.html, 'Nothing was found.')
  t.match(none.html, /Complete<\/span> Searched 1 document, all as they are now/)
  t.match(
    (await browser.get('/search?q=hundrad')).html,
    'Did you mean <a href="/search?q=hundred"><bdi>hundred</bdi></a>?',
  )
  t.match((await browser.get('/search?q=cow+morning+volcano')).html, 'These texts have some of them.')
})

t.test('operators narrow, and a query that only excludes says what it needs', async (t) => {
  const { ada, browser } = await person()
  await written(ada, { title: 'One', content: 'water and milk' })
  await written(ada, { title: 'Two', content: 'water alone' })
  await untilFresh(ada)
  t.strictSame(titlesIn(await browser.get('/search?q=water+-milk')), ['Two'])
  t.strictSame(titlesIn(await browser.get('/search?q=milk+OR+alone')).sort(), ['One', 'Two'])
  t.match(await browser.get('/search?q=-milk'), { status: 400, html: 'A search needs a word to look for' })
})

t.test('filters by base, tag, type and time narrow, and the form keeps them', async (t) => {
  const { ada, browser } = await person()
  const [zoo, farm] = [await baseOf(ada, 'Zoo'), await baseOf(ada, 'Farm')]
  await written(ada, { title: 'In zoo', content: 'water', knowledge_base_id: zoo, tags: ['Wild & free'] })
  await written(ada, { title: 'On farm', content: '# water\n\nwater', knowledge_base_id: farm })
  await untilFresh(ada)
  t.strictSame(titlesIn(await browser.get(`/search?q=water&knowledge_base_id=${farm}&tag=&updated_after=`)), [
    'On farm',
  ])
  const tagged = await browser.get(`/search?q=water&tag=wild+%26+free&knowledge_base_id=${zoo}`)
  t.strictSame(titlesIn(tagged), ['In zoo'])
  t.match(tagged.html, '<input type="checkbox" name="tag" value="wild &amp; free" checked>')
  t.match(tagged.html, `<option value="${zoo}" dir="auto" selected>Zoo</option>`)
  t.match(tagged.html, '<option value="Wild &amp; free"></option>')
  t.strictSame(titlesIn(await browser.get('/search?q=water&block_type=heading')), ['On farm'])
  t.strictSame(titlesIn(await browser.get('/search?q=water&updated_before=2001-01-01')), [])
  t.match((await browser.get('/search?q=water&updated_after=2001-02-03')).html, 'type="date" value="2001-02-03"')
  t.match(await browser.get('/search?q=water&updated_after=soon'), { status: 400, html: 'The first day: must be' })
  t.match(await browser.get('/search?q=water&block_type=nonsense'), { status: 400, html: 'Where the words stand' })
  t.match(await browser.get(`/search?q=${'w'.repeat(201)}`), { status: 400, html: `value="${'w'.repeat(201)}"` })
})

t.test('all matches are there page by page, and a change in between is said', async (t) => {
  const { ada, browser } = await person()
  const texts = Array.from({ length: 30 }, (_, index) => `water number ${index}`)
  for (const title of ['Rivers', 'Lakes']) await written(ada, { title, content: texts.join('\n\n') })
  await written(ada, { title: 'Seas', content: 'water' })
  await untilFresh(ada)
  const best = await browser.get('/search?q=wat&typing=true')
  t.match(best.html, /27 more here/)
  t.match(best.html, '61 matches in 3 documents.')
  const more = linkIn(best, /href="([^"]+)">27 more here/)
  t.match(more, 'document_id=doc_')
  t.match((await browser.get(`${more}&q=water`)).html, 'Document: ')
  const first = await browser.get('/search?q=wat*&mode=exhaustive&sort=updated_at&typing=true')
  const next = linkIn(first, /rel="next" href="([^"]+)"/)
  const second = await browser.get(next)
  const third = await browser.get(linkIn(second, /rel="next" href="([^"]+)"/))
  const last = await browser.get(linkIn(third, /rel="next" href="([^"]+)"/))
  const blocks = [first, second, third, last].flatMap(({ html }) => html.match(/#block_\w+/g) ?? [])
  t.equal(new Set(blocks).size, 61, 'each match on one page')
  t.notMatch(last.html, 'rel="next"')
  await written(ada, { title: 'Ponds', content: 'water' })
  await untilFresh(ada)
  const late = await browser.get(next)
  t.match(late, { status: 409, html: 'A document has changed since the page before' })
  t.equal(linkIn(late, /href="([^"]+)">Begin again/), '/search?q=wat*&mode=exhaustive')
  t.match(await browser.get(next.replace('wat*', 'sea')), { status: 409, html: 'belongs to another search' })
})

t.test('a script gets the results alone, and words that are still being typed match', async (t) => {
  const { ada, browser } = await person()
  await written(ada, { title: 'Guide', content: 'middleware' })
  await untilFresh(ada)
  const { status, html, headers } = await browser.get('/search?q=middl&typing=true', { 'x-fragment': 'true' })
  t.equal(status, 200)
  t.match(html, /^\s*<div class="results" data-status="1 match in 1 document.">/)
  t.notMatch(html, /<html|<form/)
  t.match(headers.get('vary'), 'X-Fragment')
  t.strictSame(titlesIn(await browser.get('/search?q=middl')), [], 'without it, words are whole')
})

t.test('nobody finds what belongs to another workspace, or anything without signing in', async (t) => {
  const { ada } = await person()
  const stranger = await person()
  const base = await baseOf(ada, 'Secret base')
  const id = await written(ada, { title: 'Secret title', content: 'treasure', knowledge_base_id: base, tags: ['hush'] })
  await untilFresh(ada)
  for (const path of [
    '/search?q=treasure',
    `/search?q=treasure&knowledge_base_id=${base}`,
    `/search?q=treasure&document_id=${id}`,
    '/search?q=tresure',
  ]) {
    const { status, html } = await stranger.browser.get(path)
    t.equal(status, 200)
    t.notMatch(html, /Secret|hush|Did you mean/, path)
  }
  const out = await new Visitor(service.origin).get('/search?q=treasure')
  t.match(out, { status: 303, location: '/login?next=%2Fsearch%3Fq%3Dtreasure' })
})

t.test('no text that a person can type or an address can hold breaks the page', async (t) => {
  const { ada, browser } = await person()
  await written(ada, {
    title: '<script>alert(1)</script>',
    content: '&lt;img src=x onerror=alert(2)&gt; 𝒜é\u0301 "water"',
  })
  await untilFresh(ada)
  const hit = await browser.get('/search?q=water')
  t.notMatch(hit.html, /<script>|<img src=x/)
  t.match(hit.headers.get('content-security-policy'), /script-src 'self';.*connect-src 'self'/)
  t.notMatch(hit.headers.get('content-security-policy'), 'unsafe')
  const name = fc.constantFrom(
    ...['knowledge_base_id', 'document_id', 'tag', 'cursor', 'mode', 'locale', 'wait_ms', 'property[x]'],
  )
  const text = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.string(),
    fc.constantFrom('exhaustive', '0', '-1', '[', '"', '-'),
  )
  await fc.assert(
    fc.asyncProperty(text, fc.array(fc.tuple(name, text), { maxLength: 3 }), async (q, others) => {
      const query = new URLSearchParams([
        ['q', q.replaceAll(/[\ud800-\udfff]/g, '')],
        ...others.filter(([key]) => key !== 'wait_ms'),
      ])
      const { status } = await browser.get(`/search?${query}`)
      return [200, 400, 409].includes(status)
    }),
  )
})

async function person() {
  const ada = await service.signUp()
  return { ada, browser: await signedInVisitor(service, { userId: ada.user_id }) }
}

async function baseOf(client: Client, name: string): Promise<number> {
  return (await client.post('/knowledge-bases', { name })).body.data.id
}

async function written(
  client: Client,
  { content, ...members }: { title: string; content: string; [member: string]: unknown },
) {
  const body = { ...members, content: { format: 'markdown', content } }
  return (await client.post('/documents', body)).body.data.id as string
}

function titlesIn({ html }: Visit): string[] {
  return [...html.matchAll(/<h2[^>]*><a[^>]*>(.*?)<\/a><\/h2>/g)].map(([, title = '']) =>
    title.replaceAll(/<[^>]+>/g, ''),
  )
}

function linkIn({ html }: Visit, pattern: RegExp): string {
  const [, link = ''] = pattern.exec(html) ?? []
  return link.replaceAll('&amp;', '&')
}
