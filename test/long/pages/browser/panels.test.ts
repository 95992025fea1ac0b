import type { Page } from 'playwright-core'
import { h, p } from '../../../document/build.ts'
import { violationsOf } from '../../../pages/browser/axe.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { bodyOf, make } from '../../../support/documents.ts'
import { t } from '../../../support/tap.ts'
import { signedInBrowser, startWrittenService, WrittenPage } from '../../../support/written-page.ts'

const desk = { viewport: { width: 1280, height: 900 } }
const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }

t.test('the panels of a document', { skip: noChromium }, async (t) => {
  const service = await startWrittenService(t)
  const ada = await service.signUp({ email: 'ada@example.test' })
  const browser = await startChromium(t)
  const { origin } = service
  const body = [h(1, 'Water'), p('Elephants drink a hundred litres.'), h(2, 'Food'), p('They eat grass and bark.')]

  t.test('a panel stands beside the text, follows what is typed, and makes a summary anew', async (t) => {
    const { id } = await make(ada, body, { title: 'Caring for elephants' })
    const reader = await signedInBrowser(browser, { service, userId: ada.user_id, options: desk })
    const one = await WrittenPage.open(reader, { origin, id })
    const { page } = one
    await one.state.getByText('Saved').waitFor()
    const link = page.getByRole('link', { name: 'Summary' })
    await link.focus()
    await page.keyboard.press('Enter')
    const panel = page.getByRole('complementary', { name: 'About this document' }).locator('.panel')
    await panel.getByText('Nothing is stored').waitFor()
    await panel.getByRole('button', { name: 'Make anew without a model' }).click()
    await panel.getByText('The text has not changed').waitFor()
    await one.type({ block: 1 }, ' And more.')
    await panel.getByText('Stale').waitFor()
    await panel.getByRole('button', { name: 'Make anew without a model' }).click()
    await panel.locator('.summary-text').getByText('And more.').waitFor()
    t.strictSame(await violationsOf(page), [], 'axe-core, beside the text')
    await shoot(page, 'panel-beside')
    // What a person writes stays in the form, when it was refused and when the text changes.
    await panel.getByText('Write it yourself').click()
    const field = panel.getByRole('textbox')
    await field.fill('My own summary.')
    await one.type({ block: 1 }, ' Much more.')
    await one.state.getByText('Saved').waitFor()
    await panel.getByRole('button', { name: 'Save' }).click()
    await panel.getByRole('alert').getByText('Nothing was saved').waitFor()
    await one.type({ block: 1 }, ' And again.')
    await one.state.getByText('Saved').waitFor()
    // The panel would ask for itself a second and a half after the text was stored.
    await page.waitForTimeout(2500)
    t.equal(await field.inputValue(), 'My own summary.')
    page.once('dialog', (dialog) => void dialog.dismiss())
    await link.click()
    t.equal(await field.inputValue(), 'My own summary.', 'the person is asked before it goes')
    page.once('dialog', (dialog) => void dialog.accept())
    await link.click()
    t.equal(await panel.count(), 0, 'the same link closes the panel')
    t.strictSame(reader.incidents, [])
    await reader.context.close()
  })

  t.test('a panel says what became of a form, also when the service or the session is gone', async (t) => {
    const { id } = await make(ada, body, { title: 'Caring for elephants' })
    const reader = await signedInBrowser(browser, { service, userId: ada.user_id, options: desk })
    const { page } = await WrittenPage.open(reader, { origin, id })
    const beside = page.getByRole('complementary', { name: 'About this document' })
    await page.getByRole('link', { name: 'Summary' }).click()
    const rebuild = beside.getByRole('button', { name: 'Make anew without a model' })
    await rebuild.waitFor()
    await beside.getByText('Sections of the document').click()
    await beside.getByRole('link', { name: 'Food' }).click()
    await beside.locator('.summary-text').getByText('They eat grass').waitFor()
    const kept = await bodyOf(ada, id)
    const summary = `/documents/${id}/summary?block_id=${kept.blocks[2]?.attrs.id}`
    const { current_source_version } = (await ada.get(summary)).body.data
    await ada.put(summary, { text: 'By hand.', base_source_version: current_source_version }, { 'if-match': '*' })
    await rebuild.click()
    await beside.getByRole('alert').getByText('Confirm that it may be replaced').waitFor()
    await beside.locator('.summary-text').getByText('By hand.').waitFor()
    t.ok(await page.evaluate('document.activeElement.textContent === "Make anew without a model"'), 'the focus stays')
    await beside.getByLabel('Replace the text that a person wrote').check()
    await page.route('**/summary*', (route) => route.abort())
    await rebuild.click()
    await beside.getByText('The service cannot be reached').waitFor()
    t.ok(await beside.getByLabel('Replace the text that a person wrote').isChecked(), 'what was filled in stays')
    await page.unroute('**/summary*')
    await reader.context.clearCookies()
    await rebuild.click()
    await beside.getByText('You are signed out').waitFor()
    t.match(page.url(), id, 'the page with the text stays')
    await reader.context.close()
  })

  t.test('on a phone a panel is a page of its own', async (t) => {
    const { id } = await make(ada, body, { title: 'Caring for elephants' })
    const options = { ...phone, colorScheme: 'dark' } as const
    const reader = await signedInBrowser(browser, { service, userId: ada.user_id, options })
    const { page } = await WrittenPage.open(reader, { origin, id })
    await shoot(page, 'panel-links-phone')
    await page.getByRole('link', { name: 'Summary' }).click()
    await page.waitForURL(`${origin}/d/${id}/summary`)
    t.strictSame(await violationsOf(page), [], 'axe-core, on a phone')
    t.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, 'nothing sticks out')
    await page.getByRole('button', { name: 'Make anew without a model' }).click()
    await page.getByText('The text has not changed').waitFor()
    await shoot(page, 'panel-phone')
    t.strictSame(reader.incidents, [])
    await reader.context.close()
  })
})

async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}
