import type { Browser, BrowserContextOptions, Request } from 'playwright-core'
import { attacks, doorsFor } from '../../document/attacks.ts'
import { p, text } from '../../document/build.ts'
import { samples, uploaded } from '../../support/attachments.ts'
import type { Client } from '../../support/client.ts'
import { make, put } from '../../support/documents.ts'
import { everyNode } from '../../support/every-node.ts'
import { onlyLong } from '../../support/run-options.ts'
import { sharedService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { views, violationsOf } from './axe.ts'
import { noChromium, startChromium } from './chromium.ts'

const service = await sharedService()

const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }

t.test('a shared document is readable by everybody, on every screen', { skip: noChromium }, async (t) => {
  const ada = await service.signUp()
  const address = await shareGuide(ada, service.origin)
  const browser = await startChromium(t)
  const settings = views.map(([colorScheme, width]): BrowserContextOptions => {
    return { ...(width > 360 ? { viewport: { width, height: 900 } } : phone), colorScheme }
  })
  for (const options of settings) {
    const { page, incidents, close } = await open(browser, options)
    await page.goto(address, { waitUntil: 'networkidle' })
    t.strictSame(await violationsOf(page), [], `axe-core, ${options.colorScheme} ${options.viewport?.width}`)
    t.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, 'nothing sticks out')
    t.equal(await page.evaluate('document.querySelector("img").naturalWidth'), 1, 'the picture is shown')
    t.equal(await page.evaluate('document.documentElement.lang'), 'en')
    const centred = 'getComputedStyle(document.querySelector(".prose > p")).textAlign'
    t.equal(await page.evaluate(centred), 'center', 'what the author has aligned is aligned')
    const contents = page.getByRole('navigation', { name: 'Contents' })
    t.equal(await contents.isVisible(), options.viewport?.width === 1280, 'contents stand where there is room for them')
    const isWider = 'Array.from(document.querySelectorAll("[role=region]"), (one) => one.scrollWidth > one.clientWidth)'
    t.strictSame(await page.evaluate(isWider), [true, false, false], 'a wide table scrolls by itself')
    t.strictSame(incidents, [], 'the policy has nothing to complain about')
    await close()
  }
})

t.test('what belongs together is found together, in any script and on paper', { skip: noChromium }, async (t) => {
  const ada = await service.signUp()
  const address = await shareGuide(ada, service.origin)
  const { page, incidents } = await open(await startChromium(t), { viewport: { width: 1280, height: 900 } })
  await page.goto(address)
  const box = (words: string) => page.getByText(words, { exact: true }).boundingBox()
  const [parent, child] = [await box('Fill the pool'), await box('Buy a hose')]
  t.ok(parent && child && child.y >= parent.y + parent.height && child.x > parent.x, 'a task stands below its parent')
  const sides = (await page.evaluate(`['Weigh the calf', 'زِن الصغير', '夏天请多备水。'].map((words) => {
    const found = Array.from(document.querySelectorAll('.prose p')).find((p) => p.textContent === words)
    return getComputedStyle(found).direction
  })`)) as string[]
  t.strictSame(sides, ['ltr', 'rtl', 'ltr'])
  await page.getByRole('link', { name: 'one to a heading' }).click()
  await page.waitForURL(/#what-it-eats$/)
  t.equal(await page.evaluate('document.querySelector(":target").localName'), 'h3')
  await page.locator('.noteref a').first().click()
  await page.waitForURL(/#fn:1$/)
  t.equal(await page.evaluate('document.querySelector(":target").textContent.startsWith("Rounded")'), true)
  await page.locator('a[href="#fnref:1"]').click()
  await page.waitForURL(/#fnref:1$/)
  t.equal(await page.evaluate('document.querySelector(":target").textContent'), '1')
  await page.emulateMedia({ media: 'print' })
  t.equal(await page.getByRole('navigation', { name: 'Contents' }).isVisible(), false)
  t.equal(await page.getByText('Forty thousand muscles.').isVisible(), true, 'paper cannot be opened')
  t.equal(await page.evaluate('getComputedStyle(document.querySelector("pre")).whiteSpace'), 'pre-wrap')
  t.strictSame(incidents, [])
})

t.test('a reader gives the password once and then sees the document', { skip: noChromium }, async (t) => {
  const ada = await service.signUp()
  const address = await shareGuide(ada, service.origin)
  const id = address.split('/').at(-1)
  await ada.patch(`/public-shares/${id}`, { password: 'trunk and tusk' })
  const browser = await startChromium(t)
  const settings: BrowserContextOptions[] = [
    { ...phone, colorScheme: 'dark' },
    { viewport: { width: 1280, height: 900 }, colorScheme: 'light' },
  ]
  for (const options of settings) {
    const { page, incidents, close } = await open(browser, options)
    await page.goto(address)
    t.strictSame(await violationsOf(page), [], `axe-core, ${options.colorScheme}`)
    t.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, 'nothing sticks out')
    t.equal(await page.evaluate('document.activeElement.id'), 'password', 'the password can be typed at once')
    await page.keyboard.type('a wrong guess')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    t.strictSame(await violationsOf(page), [], 'axe-core, after a wrong password')
    if (process.env['SCREENSHOTS']) {
      await page.screenshot({ path: `${process.env['SCREENSHOTS']}/password-${options.colorScheme}.png` })
    }
    await page.getByRole('textbox', { name: 'Password' }).fill('trunk and tusk')
    await page.getByRole('button', { name: 'Open' }).click()
    await page.locator('article').waitFor()
    await page.waitForLoadState('networkidle')
    t.equal(page.url(), address)
    t.equal(await page.evaluate('document.querySelector("img").naturalWidth'), 1, 'the picture is shown')
    await page.reload()
    t.equal(await page.locator('article').isVisible(), true, 'and is not asked again')
    t.strictSame(incidents, [])
    await close()
  }
})

t.test(
  'no title and no body runs a script in the browser of a reader',
  { ...onlyLong, skip: noChromium || onlyLong.skip },
  async (t) => {
    const ada = await service.signUp()
    const { id } = await make(ada, [p(text('x'))])
    const address = await share(ada, id, service.origin)
    const { page, incidents } = await open(await startChromium(t))
    // Each body is large, so a few bodies contain all attacks.
    for (let start = 0; start < attacks.length; start += 40) {
      const some = attacks.slice(start, start + 40)
      const reply = await put(ada, id, some.flatMap(doorsFor))
      t.equal(reply.status, 200, reply.text.slice(0, 200))
      const title = some.join(' ').replaceAll('\u0000', '').slice(0, 480)
      t.equal((await ada.patch(`/documents/${id}`, { title: `</title></bdi>${title}`.slice(0, 490) })).status, 200)
      await page.goto(address)
      await page.evaluate(poke)
      t.strictSame(
        incidents.filter((incident) => !incident.startsWith('policy')),
        [],
      )
      t.equal(page.url(), address)
    }
  },
)

t.test('the start page is accessible and loads nothing from elsewhere', { skip: noChromium }, async (t) => {
  const browser = await startChromium(t)
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, incidents, close } = await open(browser, { ...phone, colorScheme })
    await page.goto(`${service.origin}/`)
    t.strictSame(await violationsOf(page), [])
    t.strictSame(incidents, [])
    await close()
  }
})

/** A page that records unwanted actions: scripts that ran, requests to other origins, violated policies. */
async function open(browser: Browser, options: BrowserContextOptions = {}) {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(0)
  const page = await context.newPage()
  const incidents: string[] = []
  await page.exposeFunction('noteIncident', (what: string) => incidents.push(what))
  await page.addInitScript(`
    for (const name of ['alert', 'confirm', 'prompt', 'print']) window[name] = () => noteIncident('script ran ' + name)
    addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) =>
      noteIncident('policy ' + effectiveDirective + ' ' + blockedURI))`)
  page.on('dialog', (dialog) => {
    incidents.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('popup', (popup) => incidents.push(`popup ${popup.url()}`))
  page.on('pageerror', (error) => incidents.push(`error ${error.message}`))
  // The browser announces a request that the policy forbids, but never sends it.
  const note = (request: Request) => {
    const { hostname, protocol } = new URL(request.url())
    if (protocol === 'data:' || hostname === '127.0.0.1' || request.failure()?.errorText === 'csp') return
    incidents.push(`request ${request.url()}`)
  }
  page.on('requestfinished', note)
  page.on('requestfailed', note)
  return { page, incidents, close: () => context.close() }
}

// The script is a text, because these tests are compiled without the types of a browser.
const poke = `(() => {
  for (const element of document.querySelectorAll('body, body *'))
    for (const type of ['click', 'focus', 'mouseover', 'pointerover', 'toggle', 'error', 'load', 'animationstart'])
      element.dispatchEvent(new Event(type))
  for (const link of document.links) if (!/^(https?|mailto|tel|svc):$/.test(link.protocol)) link.click()
})()`

async function share(client: Client, id: string, origin: string): Promise<string> {
  const reply = await client.post(`/documents/${id}/public-share`)
  return `${origin}/s/${reply.body.data.share_id}`
}

/** A document with one node of every type. */
async function shareGuide(client: Client, origin: string): Promise<string> {
  const title = 'Caring for elephants, with a title that takes two lines'
  const { id } = await make(client, [p(text('x'))], { title })
  const attachmentId = await uploaded(client, { documentId: id, bytes: samples.png })
  const reply = await put(client, id, everyNode({ attachmentId, documentId: id }))
  if (reply.status !== 200) throw new Error(reply.text)
  return share(client, id, origin)
}
