import type { BodyNode } from '../../../../shared/body/document.ts'
import { doc, h, node, p, text, ul } from '../../../document/build.ts'
import { violationsOf } from '../../../pages/browser/axe.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { samples, uploaded } from '../../../support/attachments.ts'
import { bodyOf, make, put, shape } from '../../../support/documents.ts'
import { everyNode } from '../../../support/every-node.ts'
import { until } from '../../../support/site.ts'
import { type Test, t } from '../../../support/tap.ts'
import { signedInBrowser, startWrittenService, WrittenPage } from '../../../support/written-page.ts'

/*
 * What a person does with the text in the editor besides typing: by keyboard, with a mouse, on a phone.
 */

const phone = { viewport: { width: 360, height: 740 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true }
const desk = { viewport: { width: 1280, height: 900 } }

t.test('the tools of the editor', { skip: noChromium }, async (t) => {
  const service = await startWrittenService(t)
  const { origin } = service
  const ada = await service.signUp({ email: 'ada@example.test', workspace: 'Elephants' })
  const browser = await startChromium(t)
  const reader = await signedInBrowser(browser, { service, userId: ada.user_id, options: desk })

  /** Opens a document with these blocks. */
  async function edit(blocks: BodyNode[]) {
    const { id } = await make(ada, blocks)
    const one = await WrittenPage.open(reader, { origin, id })
    await one.state.getByText('Saved').waitFor()
    const stored = async () => shape((await bodyOf(ada, id)).blocks)
    /** Waits until the API has these blocks, whatever their ids are. */
    async function stores(t: Test, wanted: BodyNode[]): Promise<void> {
      const expected = JSON.stringify(shape(doc(...wanted).content))
      await until(async () => JSON.stringify(await stored()) === expected)
      t.strictSame(await stored(), shape(doc(...wanted).content))
      await one.page.close()
    }
    const menuLine = (name: string) => one.page.getByRole('listbox', { name: 'Blocks' }).getByRole('option', { name })
    return { id, one, page: one.page, stores, menuLine }
  }

  t.test('by keyboard alone, a person formats a text and comes back to it', async (t) => {
    const { one, page, stores } = await edit([p('Elephants drink')])
    await one.select({ block: 0 })
    await page.keyboard.press('Alt+F10')
    t.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Undo')
    for (let steps = 0; steps < 4; steps += 1) await page.keyboard.press('ArrowRight')
    t.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Italic')
    await page.keyboard.press('Enter')
    const italic = page.getByRole('button', { name: 'Italic' })
    await until(async () => (await italic.getAttribute('aria-pressed')) === 'true')
    await page.keyboard.press('Control+b')
    await stores(t, [p(text('Elephants drink', 'bold', 'italic'))])
  })

  t.test('the menu that a slash opens makes blocks', async (t) => {
    const { one, page, stores, menuLine } = await edit([p('Elephants')])
    await one.type({ block: 0 }, '\n/head')
    await menuLine('Heading 1').waitFor()
    await page.keyboard.press('ArrowDown')
    t.equal(await one.text.getAttribute('aria-activedescendant'), 'slash-menu-1')
    await page.keyboard.press('Enter')
    await page.keyboard.type('Water\n/warn')
    await menuLine('Warning').waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.type('Deep')
    await stores(t, [p('Elephants'), h(2, 'Water'), node('callout', { kind: 'warning' }, p('Deep'))])
  })

  t.test('a block is added behind what is selected, and none within code', async (t) => {
    const code = node('codeBlock', {}, text('a / b'))
    const { one, page, stores, menuLine } = await edit([p('Elephants'), code])
    const add = page.getByRole('button', { name: 'Add a block' })
    await one.place({ block: 1 })
    await until(async () => (await add.getAttribute('aria-disabled')) === 'true')
    await one.select({ block: 0 })
    await until(async () => (await add.getAttribute('aria-disabled')) === 'false')
    await add.click()
    await menuLine('Heading 1').waitFor()
    await page.keyboard.press('Escape')
    await stores(t, [p('Elephants /'), code])
  })

  t.test('what is typed behind a new formula leaves the formula there', async (t) => {
    const { one, page, stores, menuLine } = await edit([p('Volume')])
    await one.type({ block: 0 }, '\n/latex')
    await menuLine('Formula').first().waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('textbox', { name: 'LaTeX' }).fill('x^2')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.locator('.ProseMirror math').waitFor()
    await page.keyboard.type('Deep')
    await stores(t, [p('Volume'), node('blockMath', { latex: 'x^2' }), p('Deep')])
  })

  t.test('a link is added, changed and removed, and a wrong address is not taken', async (t) => {
    const { one, page, stores } = await edit([p('Elephants'), p('Ferns')])
    const link = async (block: number, address: string) => {
      await one.select({ block })
      await page.keyboard.press('Control+k')
      await page.getByRole('textbox', { name: 'Address' }).fill(address)
      await page.keyboard.press('Enter')
    }
    await link(0, 'example.com/elephants')
    await page.getByRole('link', { name: 'Elephants' }).waitFor()
    await link(1, 'javascript:alert(1)')
    await page.getByRole('alert').getByText('A link cannot have this address').waitFor()
    t.equal(await page.getByRole('alert').locator('q').textContent(), 'javascript:alert(1)')
    t.equal(await page.getByRole('link', { name: 'Ferns' }).count(), 0)
    await link(1, 'svc://doc/doc_1')
    await one.select({ block: 1 })
    await page.getByRole('button', { name: 'Link', exact: true }).click()
    await page.getByRole('button', { name: 'Remove the link' }).click()
    const marks = { type: 'link', attrs: { href: 'https://example.com/elephants' } }
    await stores(t, [p(text('Elephants', marks)), p('Ferns')])
  })

  t.test('links within the service lead to pages and files, and a pasted address of a page is one', async (t) => {
    const target = await make(ada, [p('Rivers'), p('Lakes')])
    const block = target.blocks[1]?.attrs.id
    const uri = `svc://doc/${target.id}#block=${block}`
    const marked = (href: string) => ({ type: 'link', attrs: { href } })
    const { id, one, page, stores } = await edit([p('Ferns'), p(text('Lakes', marked(uri)))])
    const attachmentId = await uploaded(ada, {
      documentId: id,
      bytes: samples.text,
      filename: 'a.txt',
      type: 'text/plain',
    })
    const link = async (address: string) => {
      await one.select({ block: 0 })
      await page.keyboard.press('Control+k')
      await page.getByRole('textbox', { name: 'Address' }).fill(address)
      await page.keyboard.press('Enter')
    }
    await link(`/api/v1/attachments/${attachmentId}`)
    const file = `/d/${id}/attachments/${attachmentId}`
    t.equal(await page.getByRole('link', { name: 'Ferns' }).getAttribute('href'), file)
    t.equal((await page.request.get(`${origin}${file}`)).status(), 200)
    await link(`${origin}/d/${target.id}`)
    await page.getByRole('link', { name: 'Ferns' }).waitFor()

    const opened = async (open: Promise<void>) => {
      const [popup] = await Promise.all([reader.context.waitForEvent('page'), open])
      await popup.locator('.ProseMirror').waitFor()
      const { pathname, hash } = new URL(popup.url())
      await popup.close()
      return pathname + hash
    }
    t.equal(
      await opened(page.getByRole('link', { name: 'Lakes' }).click({ modifiers: ['Control'] })),
      `/d/${target.id}#${block}`,
    )
    await one.select({ block: 0 })
    await page.keyboard.press('Control+k')
    t.equal(await page.getByRole('textbox', { name: 'Address' }).inputValue(), `svc://doc/${target.id}`)
    t.equal(await opened(page.getByRole('link', { name: 'Open the link' }).click()), `/d/${target.id}`)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await stores(t, [p(text('Ferns', marked(`svc://doc/${target.id}`))), p(text('Lakes', marked(uri)))])
  })

  t.test('a sign opens the menu of people, and whoever is chosen is mentioned by the id', async (t) => {
    const grace = await service.signUp({ email: 'grace.hopper@example.test', workspace: 'Elephants' })
    await service.signUp({ email: 'gracious@example.test', workspace: 'Other' })
    const { id, one, page, stores } = await edit([p('Ask'), p('ada@example.test')])
    await one.type({ block: 0 }, ' @HOPP')
    const people = page.getByRole('listbox', { name: 'People' })
    await people.getByRole('option', { name: 'grace.hopper' }).waitFor()
    t.equal(await one.text.getAttribute('aria-activedescendant'), 'mention-menu-0')
    t.equal(await people.getByRole('option').count(), 1)
    await page.keyboard.press('Enter')
    await page.keyboard.type('first')
    await one.type({ block: 1 }, '@')
    t.equal(await people.count(), 0, 'an address of e-mail is no mention')
    const { members } = await (await page.request.get(`${origin}/d/${id}/members?name=grac`)).json()
    t.strictSame(members, [{ id: grace.user_id, name: 'grace.hopper' }])
    const mention = node('mention', { id: grace.user_id, label: 'grace.hopper' })
    await stores(t, [p('Ask ', mention, ' first'), p('ada@example.test@')])
  })

  t.test('details are written one after the other by keyboard', async (t) => {
    const { one, page, stores, menuLine } = await edit([p('More')])
    await one.type({ block: 0 }, '\n/details')
    await menuLine('Details').waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.type('Trunks\nForty thousand muscles.')
    const details = node(
      'details',
      {},
      node('detailsSummary', {}, text('Trunks')),
      node('detailsContent', {}, p('Forty thousand muscles.')),
    )
    await stores(t, [p('More'), details])
  })

  t.test('a table gets rows and columns, and every cell an id of its own', async (t) => {
    const { one, page, stores, menuLine } = await edit([p('Ages')])
    await one.type({ block: 0 }, '\n/table')
    await menuLine('Table').waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.type('Name')
    await page.keyboard.press('Tab')
    await page.keyboard.type('Age')
    await page.getByRole('button', { name: 'Delete the column' }).click()
    await page.keyboard.press('Tab')
    await page.getByRole('button', { name: 'Add a row below' }).click()
    const head = (words?: string) => node('tableHeader', {}, words === undefined ? node('paragraph') : p(words))
    const cell = () => node('tableCell', {}, node('paragraph'))
    const row = () => node('tableRow', {}, cell(), cell())
    await stores(t, [p('Ages'), node('table', {}, node('tableRow', {}, head('Name'), head()), row(), row(), row())])
  })

  t.test('an arrow leads through a list in the last cell of a table before it leaves the table', async (t) => {
    const { one, page } = await edit([
      node('table', {}, node('tableRow', {}, node('tableCell', {}, ul(p('Trunk'), p('Tusk'))))),
    ])
    await page.getByText('Trunk').click()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.type('!')
    const after = await one.json()
    t.equal(after.length, 1, 'nothing was added behind the table')
    t.match(JSON.stringify(after), /"(Tusk!|T?u?s?k?!T?u?s?k?)"/)
  })

  t.test('code is in colours once its language is known', async (t) => {
    const { one, page, stores } = await edit([node('codeBlock', {}, text('const litres = 100'))])
    t.equal(await page.locator('.ProseMirror .hljs-keyword').count(), 0)
    await one.place({ block: 0 })
    await page.getByRole('button', { name: 'Language of the code' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('ts')
    await page.keyboard.press('Enter')
    await page.locator('.ProseMirror .hljs-keyword', { hasText: 'const' }).waitFor()
    await one.type({ block: 0 }, '\nlet more = 1')
    await page.locator('.ProseMirror .hljs-keyword', { hasText: 'let' }).waitFor()
    await stores(t, [node('codeBlock', { language: 'ts' }, text('const litres = 100\nlet more = 1'))])
  })

  t.test('what others change while a dialog is open is not overwritten, and the answer is not lost', async (t) => {
    const linked = (name: string) => text('Lakes', { type: 'link', attrs: { href: `https://example.com/${name}` } })
    const code = (language: string) => node('codeBlock', { language }, text('water = 1'))
    const { id, one, page, stores } = await edit([p(linked('old')), code('js'), p('Ferns')])
    const [first, second] = (await bodyOf(ada, id)).blocks
    const replace = async (block: BodyNode | undefined, by: BodyNode) => {
      const { type, attrs, ...kept } = by
      const changed = { ...kept, type, attrs: { ...attrs, id: block?.attrs?.['id'] } }
      t.equal((await ada.patch(`/documents/${id}/blocks/${block?.attrs?.['id']}`, { node: changed })).status, 200)
    }
    const quoted = (words: string) => page.locator('.notice', { hasText: words }).locator('q').textContent()
    await one.place({ block: 0, offset: 2 })
    await page.keyboard.press('Control+k')
    await page.getByRole('textbox', { name: 'Address' }).fill('https://example.com/mine')
    await replace(first, p(linked('theirs')))
    await page.locator('a[href="https://example.com/theirs"]').waitFor()
    await page.keyboard.press('Enter')
    t.equal(await quoted('changed this text meanwhile'), 'https://example.com/mine')
    await one.place({ block: 1 })
    await page.getByRole('button', { name: 'Language of the code' }).click()
    await page.getByRole('dialog').getByRole('textbox').fill('ruby')
    await replace(second, code('python'))
    await until(async () => JSON.stringify(await one.json()).includes('python'))
    await page.keyboard.press('Enter')
    t.equal(await quoted('changed this code meanwhile'), 'ruby')
    await stores(t, [p(linked('theirs')), code('python'), p('Ferns')])
  })

  t.test('the contents follow the headings and lead to them, and the page names who else is there', async (t) => {
    const filler = Array.from({ length: 40 }, (_, number) => p(`Elephant ${number}`))
    const { id } = await make(ada, [h(1, 'Water'), ...filler, h(2, 'Food'), ...filler])
    const one = await WrittenPage.open(reader, { origin, id })
    await one.state.getByText('Saved').waitFor()
    await one.type({ block: 41 }, ' and salt')
    const contents = one.page.getByRole('navigation', { name: 'Contents' })
    await contents.getByRole('link', { name: 'Food and salt' }).click()
    const top = 'document.querySelector(".ProseMirror h2").getBoundingClientRect().top'
    await until(async () => Number(await one.page.evaluate(top)) < 300)
    await one.page.waitForURL(/#block_/)
    const address = new URL(one.page.url())
    t.match(address.hash, /^#block_/)
    const grace = await service.signUp({ email: 'grace@example.test', workspace: 'Elephants' })
    const graces = await signedInBrowser(browser, { service, userId: grace.user_id, options: desk })
    const second = await WrittenPage.open(graces, { origin, id: `${id}${address.hash}` })
    await one.page.getByText('With grace').waitFor()
    await second.page.getByText('With ada').waitFor()
    t.ok(Number(await second.page.evaluate(top)) < 300, 'an address with a block leads to the block')
    await Promise.all([one.page.close(), graces.context.close()])
  })

  t.test('everybody can use the page: in light and dark, on a phone, with a screen reader', async (t) => {
    const { id } = await make(ada, [p('x')], { title: 'Caring for elephants' })
    const attachmentId = await uploaded(ada, { documentId: id, bytes: samples.png })
    await put(ada, id, everyNode({ attachmentId, documentId: id }))
    for (const options of [
      { ...desk, colorScheme: 'light' },
      { ...phone, colorScheme: 'dark' },
    ] as const) {
      const someone = await signedInBrowser(browser, { service, userId: ada.user_id, options })
      const one = await WrittenPage.open(someone, { origin, id })
      await one.state.getByText('Saved').waitFor()
      await one.page.locator('.ProseMirror math').nth(4).waitFor()
      t.strictSame(await violationsOf(one.page), [], `axe-core, ${options.colorScheme}`)
      t.equal(await one.page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, 'nothing sticks out')
      if (process.env['SCREENSHOTS']) {
        const path = `${process.env['SCREENSHOTS']}/editor-${options.colorScheme}.png`
        await one.page.screenshot({ path, fullPage: true })
      }
      t.strictSame(someone.incidents, [])
      await someone.context.close()
    }
  })

  t.test('nothing went wrong in any page', async (t) => {
    t.strictSame(reader.incidents, [])
  })
})
