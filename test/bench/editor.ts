import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { startSession } from '../../shared/auth/sessions.ts'
import type { BodyNode } from '../../shared/body/document.ts'
import { readConfig } from '../../shared/config/config.ts'
import { openDatabase } from '../../shared/database/database.ts'
import { freePort } from '../../shared/start/processes.ts'
import { launchChromium } from '../support/chromium.ts'
import { startCollab } from '../support/collab.ts'
import { startApi } from '../support/processes.ts'
import type { Site, Teardown } from '../support/site.ts'
import { serveBareEditor } from './bare-editor.ts'
import { type Figure, ms, percentile } from './harness.ts'

// The bars: milliseconds from navigation to a caret that takes text, and from a key to the painted letter.
const bars: { [blocks: string]: { caret: number; key: number } } = {
  200: { caret: 1000, key: 50 },
  10000: { caret: 2500, key: 50 },
}
const rounds = 3
const keysOfPlace = 20
const pauseMs = 100

/**
 * Measures the page of a document in chromium, for a document of 200 blocks and of 10,000. A caret takes text as soon
 * as a key that was pressed in the editor is painted. The document is opened for the first time ever, again by another
 * browser after everybody has left, and again by the same browser, which has kept a copy. The baseline is a page of
 * Tiptap's StarterKit that has the same blocks in itself: it asks no service for them, and stores nothing.
 */
export async function measureEditor(site: Site, { t, blocks }: { t: Teardown; blocks?: string }): Promise<Figure[]> {
  const { origin, cookie } = await startEditing(site, t)
  const browser = await launchChromium()
  t.teardown(() => browser.close())
  const figures: Figure[] = []
  for (const size of (blocks ?? '200,10000').split(',').map(Number)) {
    const content = blocksOf(size)
    const bare = await serveBareEditor(t, content)
    const opened: { [way: string]: number[] } = { bare: [], first: [], another: [], again: [] }
    const keys: { [side: string]: number[] } = { bare: [], editor: [] }
    for (let round = 0; round <= rounds; round += 1) {
      const times = await openEverywhere(browser, {
        bare,
        ...{ origin, cookie, document: await createDocument(site, content) },
        ...{ keys, isLast: round === rounds },
      })
      // The first round warms the processes up.
      if (round > 0) for (const [way, time] of Object.entries(times)) opened[way]?.push(time)
    }
    figures.push(...told(size, { opened, keys }))
  }
  return figures
}

type Measured = { opened: { [way: string]: number[] }; keys: { [side: string]: number[] } }

const ways = {
  first: 'opened for the first time ever',
  another: 'opened by another browser',
  again: 'opened again by the same browser',
}

function told(size: number, { opened, keys }: Measured): Figure[] {
  const bar = bars[size]
  const bare = percentile(opened['bare'] ?? [], 50)
  const carets = Object.entries(ways).map(([way, words]): Figure => {
    const time = percentile(opened[way] ?? [], 50)
    const value = `${ms(time)} (bare ${ms(bare)})`
    const name = `${size} blocks, ${words}: navigation to a caret that takes text`
    return bar === undefined ? { name, value } : { name, value, bar: `≤ ${ms(bar.caret)}`, met: time <= bar.caret }
  })
  const shares = (side: string) => [50, 95].map((share) => percentile(keys[side] ?? [], share))
  const [own, baseline] = [shares('editor'), shares('bare')]
  const value = `${own.map(ms).join(' / ')} (bare ${baseline.map(ms).join(' / ')})`
  const name = `${size} blocks: key to painted letter, p50 / p95`
  const met = bar === undefined ? {} : { bar: `p95 ≤ ${ms(bar.key)}`, met: (own[1] ?? Number.NaN) <= bar.key }
  return [...carets, { name, value, ...met }]
}

/** Opens a document in all ways. In the last round also types into it. */
async function openEverywhere(
  browser: Browser,
  side: { bare: string; origin: string; cookie: Cookie; document: string; keys: Measured['keys']; isLast: boolean },
): Promise<{ [way: string]: number }> {
  const { origin, cookie, document, keys, isLast } = side
  const address = `${origin}/d/${document}`
  const first = await openPage(await newContext(browser, cookie), address)
  await leave(first.page)
  const another = await openPage(await newContext(browser, cookie), address)
  await untilSaved(another.page)
  const context = another.page.context()
  await another.page.close()
  const again = await openPage(context, address)
  await untilSaved(again.page)
  if (isLast) keys['editor']?.push(...(await typeEverywhere(again.page)))
  await leave(again.page)
  const bare = await openPage(await newContext(browser, cookie), side.bare)
  if (isLast) keys['bare']?.push(...(await typeEverywhere(bare.page)))
  await bare.page.context().close()
  return { first: first.time, another: another.time, again: again.time, bare: bare.time }
}

async function leave(page: Page): Promise<void> {
  await untilSaved(page)
  await page.context().close()
  // The collab process forgets a document that nobody has open.
  await sleep(1500)
}

async function untilSaved(page: Page): Promise<void> {
  await page.locator('.save-state[data-state="saved"]').waitFor()
}

async function openPage(context: BrowserContext, address: string): Promise<{ page: Page; time: number }> {
  const page = await context.newPage()
  page.on('pageerror', (error) => process.stderr.write(`${error.stack}\n`))
  await page.goto(address, { waitUntil: 'commit' })
  await page.evaluate('caret.promise')
  await page.keyboard.press('x')
  const { painted } = await page.evaluate<Press>('press.promise')
  return { page, time: painted }
}

// Types at three places of the document. The time of a key is from its event to the end of the frame with its letter.
async function typeEverywhere(page: Page): Promise<number[]> {
  const times: number[] = []
  for (const share of [0.1, 0.5, 0.9]) {
    await page.evaluate(`placeCaret(${share})`)
    await sleep(1000)
    for (let key = 0; key < keysOfPlace; key += 1) {
      await page.evaluate('void (press = Promise.withResolvers())')
      await page.keyboard.press('e')
      const { pressed, painted } = await page.evaluate<Press>('press.promise')
      times.push(painted - pressed)
      await sleep(pauseMs)
    }
  }
  return times
}

/** When a key was pressed and when its letter was painted, in milliseconds since the navigation. */
type Press = { pressed: number; painted: number }

// Runs in each page before its own scripts. Sets the caret as soon as there is an editor, notes when a key is pressed,
// and when its letter is painted: after the frame that follows the change of the text.
const watching = `
  globalThis.caret = Promise.withResolvers()
  globalThis.press = Promise.withResolvers()
  let pressed = 0
  const look = new MutationObserver(() => {
    const text = document.querySelector('.ProseMirror[contenteditable="true"]')
    if (text === null || !text.hasChildNodes()) return
    look.disconnect()
    text.focus()
    caret.resolve()
  })
  look.observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ['contenteditable'] })
  addEventListener('keydown', (event) => { pressed = event.timeStamp }, true)
  addEventListener('input', ({ target }) => {
    if (!target.closest?.('.ProseMirror')) return
    requestAnimationFrame(() => setTimeout(() => press.resolve({ pressed, painted: performance.now() })))
  }, true)
  globalThis.placeCaret = (share) => {
    const { editor } = document.querySelector('.ProseMirror')
    const { content } = editor.state.doc
    const block = Math.floor(share * content.childCount)
    const end = content.content.slice(0, block + 1).reduce((sum, node) => sum + node.nodeSize, 0) - 1
    editor.chain().focus(end).run()
  }`

type Cookie = { name: string; value: string }

async function newContext(browser: Browser, cookie: Cookie): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  context.setDefaultTimeout(120_000)
  await context.addCookies([{ ...cookie, domain: '127.0.0.1', path: '/' }])
  await context.addInitScript(watching)
  return context
}

/** Starts the API with the pages and a collab process for them, and a session of the owner. */
async function startEditing(site: Site, t: Teardown): Promise<{ origin: string; cookie: Cookie }> {
  const port = String(await freePort({ host: '127.0.0.1' }))
  const api = await startApi({ ...site.env, COLLAB_URL: `ws://127.0.0.1:${port}/collab` })
  t.teardown(api.stop)
  const pauses = { COLLAB_DEBOUNCE_MS: '500', COLLAB_MAX_DEBOUNCE_MS: '10000' }
  const collab = await startCollab({
    ...{ ...site.env, ...pauses },
    ...{ COLLAB_PORT: port, CORS_ALLOWED_ORIGINS: api.origin },
  })
  t.teardown(collab.stop)
  const { DATABASE_URL: url, SESSION_SECRET: secret } = readConfig(site.env)
  const database = await openDatabase({ url, kind: 'whole', poolSize: 1 })
  const { body } = await site.client.get('/me')
  const value = await startSession({ db: database, secret }, body.data.user.id).finally(() => database.end())
  return { origin: api.origin, cookie: { name: 'svc_session', value } }
}

async function createDocument(site: Site, content: BodyNode[]): Promise<string> {
  const { status, text, body } = await site.client.post('/documents', {
    ...{ title: 'Measured', knowledge_base_id: site.knowledgeBase },
    content: { format: 'tiptap-json', document: { type: 'doc', content } },
  })
  if (status !== 201) throw new Error(`${status} ${text}`)
  return body.data.id
}

// One heading for nine paragraphs.
function blocksOf(size: number): BodyNode[] {
  return Array.from({ length: size }, (_, index) =>
    index % 10 === 0
      ? { type: 'heading', attrs: { level: 2 }, content: [{ type: 'text', text: `Heading ${index}` }] }
      : {
          type: 'paragraph',
          content: [
            { type: 'text', text: `Paragraph ${index} with ` },
            { type: 'text', text: 'bold', marks: [{ type: 'bold' }] },
            { type: 'text', text: ' words about elephants in it.' },
          ],
        },
  )
}
