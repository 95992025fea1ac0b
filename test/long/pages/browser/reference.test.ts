import { routes } from '../../../../api/routes/routes.ts'
import { errorCatalogue } from '../../../../shared/errors/error-catalogue.ts'
import { everyView, violationsOf } from '../../../pages/browser/axe.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { sharedService } from '../../../support/service.ts'
import { t } from '../../../support/tap.ts'

const service = await sharedService()

t.test(
  'the reference is accessible on every screen and asks nothing of other hosts',
  { skip: noChromium },
  async (t) => {
    const browser = await startChromium(t)
    for (const width of [1280, 360]) {
      for (const colorScheme of everyView
        ? (['light', 'dark'] as const)
        : ([width > 360 ? 'light' : 'dark'] as const)) {
        const page = await browser.newPage({ colorScheme, viewport: { width, height: 800 } })
        const foreign: string[] = []
        page.on('request', (request) => {
          if (!request.url().startsWith(service.origin)) foreign.push(request.url())
        })
        const complaints: string[] = []
        page.on('console', (message) => complaints.push(message.text()))
        await page.goto(`${service.origin}/api-docs`, { waitUntil: 'networkidle' })
        await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true')
        t.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, 'nothing sticks out')
        // The two views share the operations and schemas between them.
        if (!everyView) await page.evaluate(`(${keepEverySecond})(${width > 360 ? 0 : 1})`)
        t.strictSame(await violationsOf(page), [], `axe-core, ${colorScheme} ${width}`)
        t.strictSame([foreign, complaints], [[], []])
        await page.close()
      }
    }
  },
)

// Removes the other entries of the reference, for axe-core takes seconds to look at all of them.
const keepEverySecond = `(rest) => document.querySelectorAll('.entry').forEach((entry, index) => {
  if (index % 2 !== rest) entry.remove()
})`

t.test('every operation and every error is reached by a link, without scripts', { skip: noChromium }, async (t) => {
  const context = await (await startChromium(t)).newContext({ javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(`${service.origin}/api-docs`)
  await page.getByText('Blocks', { exact: true }).first().click()
  await page.getByRole('link', { name: 'PATCH /documents/{id}/blocks/{blockId}', exact: true }).click()
  const heading = page.getByRole('heading', { name: 'PATCH /documents/{id}/blocks/{blockId}' })
  await page.waitForURL(`**/*#${await heading.getAttribute('id')}`)
  const contents = await page.locator('nav details').allTextContents()
  const words = contents.join(' ').replace(/\s+/g, ' ')
  for (const { method, path, listed } of routes) {
    if (listed !== 'openapi') t.ok(words.includes(`${method} ${path} `), `${method} ${path}`)
  }
  const html = await page.content()
  const ids = Array.from(html.matchAll(/ id="([^"]*)"/g), ([, id]) => id)
  t.equal(new Set(ids).size, ids.length, 'no two places have the same id')
  const links = Array.from(html.matchAll(/ href="#([^"]*)"/g), ([, id]) => id)
  t.strictSame(new Set(links).difference(new Set(ids)), new Set(), 'every link within the page leads somewhere')
  for (const code of Object.keys(errorCatalogue)) t.ok(ids.includes(`error-${code}`), code)
  const read = routes.filter(({ listed, stream }) => listed === undefined && !stream).length
  t.ok((await page.locator('details.example').count()) >= read - 5, 'and the operations have examples')
})
