import type { Page } from 'playwright-core'
import { doc, h, node, p, text } from '../../../document/build.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { bodyOf, make, shape } from '../../../support/documents.ts'
import { until } from '../../../support/site.ts'
import { t } from '../../../support/tap.ts'
import { startWrittenService } from '../../../support/written-page.ts'

/*
 * A person who has no mouse: from the sign-in page to a stored document.
 */

t.test('without a mouse', { skip: noChromium }, async (t) => {
  const service = await startWrittenService(t)
  const { origin } = service
  const credentials = { email: 'ada@example.test', password: 'a hundred litres of water' }
  const ada = await service.signUp(credentials)
  const { id } = await make(ada, [p('Elephants')])
  const browser = await startChromium(t)
  const page = await (await browser.newContext()).newPage()
  page.setDefaultTimeout(0)

  t.test('a person signs in and comes to the text', async (t) => {
    await page.goto(`${origin}/d/${id}`)
    await tabTo(page, 'Email')
    await page.keyboard.type(credentials.email)
    await tabTo(page, 'Password')
    await page.keyboard.type(credentials.password)
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('Saved').waitFor()
    await tabTo(page, 'Text of the document')
    t.equal(new URL(page.url()).pathname, `/d/${id}`)
  })

  t.test('headings, lists, tables and links are written, and the page says that they are stored', async (t) => {
    // The page learns a moment after a key where the caret is, which is before a person presses the next key.
    const press = async (...keys: string[]) => {
      for (const key of keys) {
        await page.keyboard.press(key)
        await page.evaluate('new Promise((go) => requestAnimationFrame(() => setTimeout(go)))')
      }
    }
    const blocks = page.getByRole('listbox', { name: 'Blocks' })
    const option = (name: string) => blocks.getByRole('option', { name, exact: true })
    await press('Control+End', 'Enter')
    await page.keyboard.type('/head')
    await option('Heading 2').waitFor()
    await press('ArrowDown', 'Enter')
    await page.keyboard.type('Water')
    await press('Enter')
    await page.keyboard.type('- rivers\nlakes')
    await press('Enter', 'Enter')
    await page.keyboard.type('See the keeper')
    await press('Shift+Control+ArrowLeft', 'Control+k')
    await page.getByRole('textbox', { name: 'Address' }).waitFor()
    await page.keyboard.type('https://example.com/')
    await press('Enter')
    await tabTo(page, 'Text of the document')
    await press('End', 'Enter')
    await page.keyboard.type('/table')
    await option('Table').waitFor()
    await press('Enter')
    await page.keyboard.type('Age')
    await press('Tab')
    await page.keyboard.type('Litres')
    await press('Alt+F10')
    await tabTo(page, 'Delete the column', 'ArrowRight')
    await press('Enter')
    await tabTo(page, 'Text of the document')
    await press('Control+End', 'ArrowDown')
    await page.keyboard.type('The end')
    await page.getByRole('status').getByText('Saved').waitFor()

    const row = (type: string, ...words: string[]) =>
      node('tableRow', {}, ...words.map((word) => node(type, {}, word === '' ? node('paragraph') : p(word))))
    const wanted = doc(
      p('Elephants'),
      h(2, 'Water'),
      node('bulletList', {}, node('listItem', {}, p('rivers')), node('listItem', {}, p('lakes'))),
      p('See the ', text('keeper', { type: 'link', attrs: { href: 'https://example.com/' } })),
      node('table', {}, row('tableHeader', 'Age', ''), row('tableCell', '', ''), row('tableCell', '', '')),
      p('The end'),
    )
    await until(async () => JSON.stringify(shape((await bodyOf(ada, id)).blocks)).includes('The end'))
    t.strictSame(shape((await bodyOf(ada, id)).blocks), shape(wanted.content))
  })

  t.test('the person leaves the text, and signs out', async (t) => {
    await page.keyboard.press('Alt+F10')
    await tabTo(page, 'Sign out', 'Shift+Tab')
    await page.keyboard.press('Enter')
    await until(async () => (await page.locator('.ProseMirror').count()) === 0)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.goto(`${origin}/account/tokens`)
    t.equal(new URL(page.url()).pathname, '/login', 'the session is over')
  })
})

// Presses a key until something of this name has the focus.
async function tabTo(page: Page, name: string, key = 'Tab'): Promise<void> {
  const focused = `(() => {
    const { activeElement: one } = document
    return one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent
  })()`
  for (let presses = 0; presses < 60; presses += 1) {
    if (String(await page.evaluate(focused)).trim() === name) return
    await page.keyboard.press(key)
  }
  throw new Error(`No press of ${key} led to “${name}”`)
}
