import type { BrowserContextOptions } from 'playwright-core'
import { p, text } from '../../../document/build.ts'
import { lookAtEveryView, violationsOf } from '../../../pages/browser/axe.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { make } from '../../../support/documents.ts'
import { sharedService } from '../../../support/service.ts'
import { t } from '../../../support/tap.ts'
import { signedInVisitor } from '../../../support/visitor.ts'

const skip = noChromium
const service = skip ? null : await sharedService()

t.test('a person shares a document and copies the link, by keyboard alone', { skip }, async (t) => {
  const { open, id } = await writer(t)
  const { page, complaints } = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${service?.origin}/d/${id}/sharing`)
  t.equal(await page.getByLabel('Time, in UTC').isVisible(), false)
  await page.getByLabel('Expires').focus()
  await page.keyboard.type('At a time')
  await page.getByLabel('Time, in UTC').waitFor()
  await page.getByLabel('Time, in UTC').fill('2100-01-01T10:30')
  await page.getByRole('button', { name: 'Make a public link' }).press('Enter')
  await page.getByText('2100-01-01 10:30 UTC').waitFor()
  await page.getByRole('button', { name: 'Copy' }).press('Enter')
  await page.getByRole('status').filter({ hasText: 'Copied' }).waitFor()
  t.equal(await page.evaluate('navigator.clipboard.readText()'), await page.getByLabel('Address').inputValue())
  await page.getByText('Revoke…').focus()
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Make a public link' }).waitFor()
  t.same(complaints, [])
})

t.test('without scripts, a person tags a document and describes it', { skip }, async (t) => {
  const { open, id } = await writer(t)
  const { page, complaints } = await open({ javaScriptEnabled: false })
  await page.goto(`${service?.origin}/d/${id}/properties`)
  await page.getByLabel('Add tags').fill('wild, big')
  await page.keyboard.press('Enter')
  await page.getByRole('checkbox', { name: 'wild' }).waitFor()
  await page.getByRole('checkbox', { name: 'big' }).uncheck()
  await page.getByRole('button', { name: 'Save tags' }).click()
  await page.getByRole('checkbox', { name: 'big' }).waitFor({ state: 'detached' })
  await page.getByLabel('Value').fill('\nbeginning with an empty line')
  await page.getByLabel('Name').fill('note')
  await page.getByRole('button', { name: 'Add property' }).click()
  t.equal(await page.getByLabel('note Text').inputValue(), '\nbeginning with an empty line')
  await page.getByRole('button', { name: 'Remove note' }).click()
  await page.getByText('The document has no properties.').waitFor()
  t.same(complaints, [])
})

t.test('the pages are accessible, in light and in dark, and fit a telephone', { skip }, async (t) => {
  const { ada, open, id } = await writer(t)
  const other = await make(ada, [p(text('x'))], { title: 'ع'.repeat(80) })
  const properties = { owner: 'Ada', weight: 6000, done: true, colours: ['grey', 'brown'], lines: 'a\rb' }
  await ada.patch(`/documents/${id}`, { tags: ['Mammals', 'W'.repeat(64)], properties })
  await ada.post(`/documents/${id}/public-share`, { password: 'trunk and tusk', expires_at: Date.now() + 1e9 })
  const { page } = await open()
  const check = (name: string) =>
    lookAtEveryView(page, async (view) => {
      t.same(await violationsOf(page), [], `${name}, ${view}`)
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      t.equal(await page.evaluate(overflow), 0, `${name} fits ${view}`)
    })
  for (const path of [`${id}/sharing`, `${other.id}/sharing`, `${id}/properties`, `${other.id}/properties`]) {
    await page.goto(`${service?.origin}/d/${path}`)
    await page.evaluate(`for (const details of document.querySelectorAll('details')) details.open = true`)
    await check(path)
  }
  await page.getByLabel('Name').fill('1st')
  await page.getByRole('button', { name: 'Add property' }).click()
  await page.getByRole('alert').waitFor()
  await check('a form that was refused')
  await page.context().close()
})

// A person with a document, whose pages note the complaints of the browser and requests to other hosts.
async function writer(t: Parameters<typeof startChromium>[0]) {
  if (service === null) throw new Error('there is no browser')
  const { origin } = service
  const ada = await service.signUp()
  const { id } = await make(ada, [p(text('Water'))], { title: 'Rivers' })
  const session = (await signedInVisitor(service, { userId: ada.user_id })).cookies.get('svc_session') ?? ''
  const browser = await startChromium(t)
  const open = async (options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options)
    await context.addCookies([{ name: 'svc_session', value: session, url: origin }])
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const complaints: string[] = []
    page.on('console', (message) => message.type() === 'info' || complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('request', (request) => request.url().startsWith(origin) || complaints.push(request.url()))
    return { page, complaints }
  }
  return { ada, open, id }
}
