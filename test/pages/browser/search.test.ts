import type { BrowserContextOptions } from 'playwright-core'
import { onlyLong } from '../../support/run-options.ts'
import { t } from '../../support/tap.ts'
import { signedInVisitor } from '../../support/visitor.ts'
import { startSearchService, untilFresh } from '../../support/workers.ts'
import { lookAtEveryView, violationsOf } from './axe.ts'
import { noChromium, startChromium } from './chromium.ts'

const skip = noChromium
const atLength = { skip: skip || onlyLong.skip }
const service = skip ? null : await startSearchService(t)
const texts = {
  Elephants: '# Water\n\nAn elephant drinks a hundred litres a day.\n\n```\nlitres = 100\n```',
  Cows: 'A cow gives thirty litres of milk.',
  المكتبة: 'المكتبة الوطنية تحفظ الوثائق القديمة litres',
}

t.test('a person who never leaves the keyboard sees hits while typing, and opens one', atLength, async (t) => {
  const { open } = await reader(t)
  const { page, complaints } = await open()
  await page.goto(`${service?.origin}/search`)
  await page.keyboard.type('hundr', { delay: 20 })
  const status = page.getByRole('status')
  await status.filter({ hasText: '1 match in 1 document.' }).waitFor()
  t.match(await page.locator('.context').textContent(), 'An elephant drinks a hundred litres a day.')
  t.equal(await page.locator('mark').textContent(), 'hundred')
  // The letters before the last find the same hit, so the hit can stand there before the last letter is asked for.
  await page.waitForURL(/\/search\?q=hundr&typing=true$/)
  await page.keyboard.press('Enter')
  await page.keyboard.type('xyz')
  await status.filter({ hasText: 'Nothing was found.' }).waitFor()
  for (const _ of 'xyz') await page.keyboard.press('Backspace')
  await status.filter({ hasText: '1 match in 1 document.' }).waitFor()
  await page.reload()
  t.match(await status.textContent(), '1 match in 1 document.', 'the address brings the same hits')
  await page.locator('.blocks a').focus()
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/d\/doc_\w+#block_\w+$/)
  t.same(complaints, [])
})

t.test('a filter narrows at once, and what is typed in parts is searched when it is whole', { skip }, async (t) => {
  const { open } = await reader(t)
  const { page, complaints, asked } = await open()
  await page.goto(`${service?.origin}/search?q=litres`)
  await page.getByText('Filters').click()
  await page.getByLabel('Code').check()
  const status = page.getByRole('status')
  await status.filter({ hasText: '1 match in 1 document.' }).waitFor()
  await page.getByLabel('Code').uncheck()
  await status.filter({ hasText: '4 matches in 3 documents.' }).waitFor()
  const before = asked.length
  await page.evaluate(`(() => {
    const input = document.querySelector('#q')
    input.value = 'こn'
    input.dispatchEvent(new InputEvent('input', { bubbles: true, isComposing: true }))
  })()`)
  await page.waitForTimeout(400)
  t.equal(asked.length, before)
  await page.evaluate(
    `document.querySelector('#q').dispatchEvent(new CompositionEvent('compositionend', { bubbles: true }))`,
  )
  await status.filter({ hasText: 'Nothing was found.' }).waitFor()
  const composed = asked.length
  await page.evaluate(`(() => {
    const input = document.querySelector('#q')
    input.value = ''
    for (const letter of 'hundr') {
      input.value += letter
      input.dispatchEvent(new InputEvent('input', { bubbles: true }))
    }
  })()`)
  await status.filter({ hasText: '1 match in 1 document.' }).waitFor()
  t.equal(asked.length, composed + 1, 'five letters that follow at once are one search')
  t.same(complaints, [])
})

t.test('the page is accessible, in light and in dark, and fits a telephone', atLength, async (t) => {
  const { open } = await reader(t)
  const { page } = await open()
  for (const path of ['/search?q=litres&tag=big', '/search?q=litres', '/search?q=hundrad', '/search?q=-x']) {
    await page.goto(`${service?.origin}${path}`)
    await page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true`)
    await lookAtEveryView(page, async (view) => {
      t.same(await violationsOf(page), [], `${path}, ${view}`)
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      t.equal(await page.evaluate(overflow), 0, `${path} fits ${view}`)
    })
  }
  await page.context().close()
})

// A person with some documents, whose pages note complaints of the browser and the searches of scripts.
async function reader(t: Parameters<typeof startChromium>[0]) {
  if (service === null) throw new Error('there is no browser')
  const { origin } = service
  const ada = await service.signUp()
  for (const [title, content] of Object.entries(texts)) {
    await ada.post('/documents', { title, content: { format: 'markdown', content } })
  }
  await untilFresh(ada)
  const session = (await signedInVisitor(service, { userId: ada.user_id })).cookies.get('svc_session') ?? ''
  const browser = await startChromium(t)
  const open = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options)
    await context.addCookies([{ name: 'svc_session', value: session, url: origin }])
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const complaints: string[] = []
    const asked: string[] = []
    page.on('console', (message) => message.type() === 'info' || complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => {
      if (!request.url().startsWith(origin)) complaints.push(request.url())
      if (request.resourceType() === 'fetch' && request.url().includes('/search')) asked.push(request.url())
    })
    return { page, complaints, asked }
  }
  return { open }
}
