import type { Page } from 'playwright-core'
import type { BodyNode } from '../../../../shared/body/document.ts'
import { h, p, text, ul } from '../../../document/build.ts'
import { violationsOf } from '../../../pages/browser/axe.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { bodyOf, make } from '../../../support/documents.ts'
import { until } from '../../../support/site.ts'
import { t } from '../../../support/tap.ts'
import { signedInBrowser, startWrittenService, WrittenPage } from '../../../support/written-page.ts'

/*
 * What a person does with whole blocks, with the title, and with words that stand in many blocks.
 */

const desk = { viewport: { width: 1280, height: 900 } }
const shots = process.env['SCREENSHOTS']

t.test('blocks, title and found words', { skip: noChromium }, async (t) => {
  const service = await startWrittenService(t)
  const { origin } = service
  const workspace = 'Elephants'
  const ada = await service.signUp({ email: 'ada@example.test', workspace })
  const browser = await startChromium(t)
  const reader = await signedInBrowser(browser, { service, userId: ada.user_id, options: desk })

  async function edit(blocks: BodyNode[]) {
    const made = await make(ada, blocks, { title: 'Elephants' })
    const one = await WrittenPage.open(reader, { origin, id: made.id })
    await one.state.getByText('Saved').waitFor()
    return { ...made, one, page: one.page }
  }

  const stored = async (id: string) => (await bodyOf(ada, id)).blocks
  const untilStored = async (id: string, isTrue: (blocks: BodyNode[]) => boolean) => {
    const limit = Date.now() + 20_000
    await until(async () => isTrue(await stored(id)) || Date.now() > limit)
    return stored(id)
  }
  const words = (blocks: BodyNode[]) => blocks.map((block) => wordsOf(block))
  const ids = (blocks: BodyNode[]) => blocks.map(({ attrs }) => attrs?.['id'])

  t.test('Alt with an arrow moves a block, which keeps its id and the caret', async (t) => {
    const { id, blocks, one, page } = await edit([p('One'), p('Two'), ul(p('a'), p('b')), p('Three')])
    const [first, second, list, third] = ids(blocks)
    await one.place({ block: 1, offset: 1 })
    await page.keyboard.press('Alt+ArrowUp')
    await page.keyboard.press('Alt+ArrowUp')
    await page.keyboard.type('x')
    const up = await untilStored(id, (now) => words(now)[0] === 'Txwo')
    t.strictSame(words(up), ['Txwo', 'One', 'ab', 'Three'])
    t.strictSame(ids(up), [second, first, list, third])
    await page.keyboard.press('Alt+ArrowDown')
    await page.keyboard.press('Alt+ArrowDown')
    const down = await untilStored(id, (now) => words(now)[2] === 'Txwo')
    t.strictSame(ids(down), [first, list, second, third])
    await page.keyboard.press('Control+z')
    await one.page.close()
  })

  t.test('a block that is dragged by its handle keeps its id', async (t) => {
    const { id, blocks, page } = await edit([h(2, 'One'), p('Two'), p('Three')])
    await dragAbove(page, { dragged: 'Three', target: 'Two' })
    if (shots) await page.screenshot({ path: `${shots}/handle.png` })
    await page.mouse.up()
    const after = await untilStored(id, (now) => words(now)[1] === 'Three')
    t.strictSame(words(after), ['One', 'Three', 'Two'])
    t.strictSame(
      ids(after),
      [0, 2, 1].map((at) => ids(blocks)[at]),
    )
    await page.close()
  })

  t.test('what others write into a block while it is dragged is in the block after the drop', async (t) => {
    const { id, blocks, page } = await edit([p('One'), p('Two'), p('Three')])
    const [first, second, third] = ids(blocks)
    await dragAbove(page, { dragged: 'Three', target: 'Two' })
    await ada.patch(`/documents/${id}/blocks/${third}`, { content: [text('Three and more')] })
    await page.getByText('Three and more').waitFor()
    await page.mouse.up()
    const after = await untilStored(id, (now) => ids(now)[1] === third)
    t.strictSame(words(after), ['One', 'Three and more', 'Two'])
    t.strictSame(ids(after), [first, third, second])
    await page.close()
  })

  t.test('a block that others delete while it is dragged does not come back', async (t) => {
    const { id, blocks, one, page } = await edit([p('One'), p('Two'), p('Three')])
    await dragAbove(page, { dragged: 'Three', target: 'Two' })
    await ada.delete(`/documents/${id}/blocks/${ids(blocks)[2]}`)
    await page.locator('.ProseMirror').getByText('Three').waitFor({ state: 'detached' })
    await page.mouse.up()
    await one.type({ block: 0 }, '!')
    const after = await untilStored(id, (now) => words(now)[0] === 'One!')
    t.strictSame(ids(after), ids(blocks).slice(0, 2))
    await page.close()
  })

  t.test('the key that is held at the drop decides that a block is copied', async (t) => {
    const { id, blocks, page } = await edit([p('One'), p('Two'), p('Three')])
    await dragAbove(page, { dragged: 'Three', target: 'Two' })
    await page.keyboard.down('Control')
    await page.mouse.up()
    await page.keyboard.up('Control')
    const after = await untilStored(id, (now) => now.length === 4)
    t.strictSame(words(after), ['One', 'Three', 'Two', 'Three'])
    t.strictSame(ids(after).toSpliced(1, 1), ids(blocks), 'the copy has a new id')
    await page.close()
  })

  t.test('words are found and replaced, with their looks, and one undo takes all of it back', async (t) => {
    const { id, one, page } = await edit([
      p('An elephant, an ', text('ELEPHANT', 'bold'), '.'),
      p('No mouse'),
      p('Three elephants (elephant?)'),
    ])
    await one.place({ block: 0, offset: 0 })
    await page.keyboard.press('Control+f')
    const bar = page.getByRole('search', { name: 'Find in the document' })
    await page.keyboard.type('elephant')
    await bar.getByText('1 of 4').waitFor()
    t.equal(await page.evaluate('CSS.highlights.get("found").size'), 4)
    await page.keyboard.press('Enter')
    await bar.getByText('2 of 4').waitFor()
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.press('Shift+Enter')
    await bar.getByText('4 of 4').waitFor()
    if (shots) await page.screenshot({ path: `${shots}/find.png` })
    t.strictSame(await violationsOf(page), [])
    await bar.getByRole('textbox', { name: 'Find' }).fill('elephant?')
    await bar.getByText('1 of 1').waitFor()
    await bar.getByRole('textbox', { name: 'Find' }).fill('elephant')
    await bar.getByRole('textbox', { name: 'Replace by' }).fill('whale')
    await bar.getByRole('button', { name: 'Replace all' }).click()
    await bar.getByText('Not found').waitFor()
    const after = await untilStored(id, (now) => words(now)[0] === 'An whale, an whale.')
    t.strictSame(words(after), ['An whale, an whale.', 'No mouse', 'Three whales (whale?)'])
    t.match(JSON.stringify(after[0]), '"marks":[{"type":"bold"}],"text":"whale"')
    // The new word holds the wanted word, and yet each place is replaced once.
    await bar.getByRole('textbox', { name: 'Find' }).fill('whale')
    await bar.getByText('1 of 4').waitFor()
    await bar.getByRole('textbox', { name: 'Replace by' }).fill('whale cow')
    await bar.getByRole('button', { name: 'Replace', exact: true }).click()
    await bar.getByText('2 of 4').waitFor()
    await bar.getByRole('button', { name: 'Replace', exact: true }).click()
    const twice = await untilStored(id, (now) => words(now)[0] === 'An whale cow, an whale cow.')
    t.strictSame(words(twice), ['An whale cow, an whale cow.', 'No mouse', 'Three whales (whale?)'])
    await page.keyboard.press('Escape')
    t.equal(await bar.isVisible(), false)
    t.equal(await page.evaluate('CSS.highlights.has("found")'), false)
    await page.keyboard.press('Control+z')
    await untilStored(id, (now) => words(now)[0] === 'An elephant, an ELEPHANT.')
    await page.close()
  })

  t.test('the matches follow what a program writes meanwhile', async (t) => {
    const { id, blocks, page } = await edit([p('One elephant'), p('Two')])
    await page.keyboard.press('Control+f')
    const bar = page.getByRole('search', { name: 'Find in the document' })
    await bar.getByRole('textbox', { name: 'Find' }).fill('elephant')
    await bar.getByText('1 of 1').waitFor()
    const content = [{ type: 'text', text: 'Two elephants' }]
    await ada.patch(`/documents/${id}/blocks/${blocks[1]?.attrs.id}`, { content })
    await bar.getByText('1 of 2').waitFor()
    t.equal(await page.evaluate('CSS.highlights.get("found").size'), 2)
    await page.close()
  })

  t.test('the title is changed where it stands, and an outdated change is told', async (t) => {
    const { id, page } = await edit([p('Text')])
    const title = page.getByRole('textbox', { name: 'Title' })
    const titleNow = async () => (await ada.get(`/documents/${id}`)).body.data.title
    await title.click()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Whales')
    await page.keyboard.press('Enter')
    await until(async () => (await titleNow()) === 'Whales')
    t.equal(await page.evaluate('document.activeElement.classList.contains("ProseMirror")'), true)
    await ada.patch(`/documents/${id}`, { title: 'Fish' })
    await title.click()
    await page.keyboard.press('End')
    await page.keyboard.type(' and krill')
    await page.keyboard.press('Enter')
    await page.getByText('Somebody has changed the title to “Fish”').waitFor()
    t.equal(await titleNow(), 'Fish')
    await title.click()
    await page.keyboard.press('Enter')
    await until(async () => (await titleNow()) === 'Whales and krill')

    // The second change comes before the answer to the first one.
    const { promise: wait, resolve: goOn } = Promise.withResolvers<void>()
    await page.route('**/title', async (route) => {
      await wait
      await route.continue()
    })
    for (const word of [' now', ' again']) {
      await title.click()
      await page.keyboard.press('End')
      await page.keyboard.type(word)
      await page.keyboard.press('Enter')
    }
    goOn()
    await until(async () => (await titleNow()) === 'Whales and krill now again')
    if (shots) await page.screenshot({ path: `${shots}/title.png` })
    t.strictSame(await violationsOf(page), [])
    await page.close()
  })

  t.test('colour, highlight and alignment are chosen in the toolbar', async (t) => {
    const { id, one, page } = await edit([p('Water'), p('Air')])
    await one.select({ block: 0 })
    await page.getByRole('combobox', { name: 'Colour of the text' }).selectOption('Red')
    await page.getByRole('combobox', { name: 'Highlight' }).selectOption('Yellow')
    await page.getByRole('combobox', { name: 'Alignment' }).selectOption('Centre')
    const after = await untilStored(id, (now) => now[0]?.attrs?.['textAlign'] === 'center')
    t.match(JSON.stringify(after[0]), '"color":"#b3261e"')
    t.match(JSON.stringify(after[0]), '"color":"#fff3a3"')
    t.equal(await page.getByRole('combobox', { name: 'Highlight' }).inputValue(), '#fff3a3')
    await page.getByRole('combobox', { name: 'Colour of the text' }).selectOption('')
    await page.getByRole('combobox', { name: 'Highlight' }).selectOption('')
    await page.getByRole('combobox', { name: 'Alignment' }).selectOption('')
    const back = await untilStored(id, (now) => now[0]?.attrs?.['textAlign'] === undefined)
    t.notMatch(JSON.stringify(back), 'color')
    if (shots) await page.screenshot({ path: `${shots}/toolbar.png` })
    await page.close()
  })

  t.test('code keeps its colours while others write, and is not coloured anew', async (t) => {
    const code = (at: number): BodyNode => ({
      type: 'codeBlock',
      attrs: { language: 'javascript' },
      content: [{ type: 'text', text: `const coloured${at} = ${at}` }],
    })
    const { id, blocks, page } = await edit([p('Water'), code(1), code(2), code(3)])
    const keywords = page.locator('.ProseMirror .hljs-keyword')
    await keywords.nth(2).waitFor()
    await page.evaluate(`{
      const { exec } = RegExp.prototype
      window.coloured = 0
      RegExp.prototype.exec = function (text) {
        if (String(text).startsWith('const coloured')) window.coloured += 1
        return exec.call(this, text)
      }
    }`)
    await ada.patch(`/documents/${id}/blocks/${blocks[0]?.attrs.id}`, { content: [text('Water flows')] })
    await page.getByText('Water flows').waitFor()
    t.equal(await keywords.count(), 3)
    t.equal(await page.evaluate('coloured'), 0, 'no expression has read the code')
    await page.close()
  })

  t.test('a viewer finds words, and changes neither them nor the title', async (t) => {
    const viewer = await service.signUp({ role: 'viewer', workspace, email: 'viewer@example.test' })
    const { id } = await make(ada, [p('One elephant')])
    const reading = await signedInBrowser(browser, { service, userId: viewer.user_id, options: desk })
    const { page, state } = await WrittenPage.open(reading, { origin, id })
    await state.getByText('Read only').waitFor()
    await page.keyboard.press('Control+f')
    const bar = page.getByRole('search', { name: 'Find in the document' })
    await bar.getByRole('textbox', { name: 'Find' }).fill('elephant')
    await bar.getByText('1 of 1').waitFor()
    t.equal(await bar.getByRole('button', { name: 'Replace all' }).isVisible(), false)
    t.equal(await page.getByRole('textbox', { name: 'Title' }).count(), 0)
    t.equal(await page.locator('.drag-handle').isVisible(), false)
    await page.close()
  })

  t.strictSame(reader.incidents, [])
})

// Drags the block with these words by its handle to the place above another block, and holds it there.
async function dragAbove(page: Page, { dragged, target }: { dragged: string; target: string }): Promise<void> {
  const block = (words: string) => page.locator('.ProseMirror').getByText(words, { exact: true }).last()
  await block(dragged).hover()
  const handle = page.locator('.drag-handle')
  await handle.waitFor()
  // The handle comes to the block a moment after it is shown.
  await until(async () => {
    const [shown, row] = [await handle.boundingBox(), await block(dragged).boundingBox()]
    return shown !== null && row !== null && Math.abs(shown.y - row.y) < row.height
  })
  const [from, to] = [await handle.boundingBox(), await block(target).boundingBox()]
  if (from === null || to === null) throw new Error('the handle and the text are shown')
  await page.mouse.move(from.x + 5, from.y + 10)
  await page.mouse.down()
  await page.mouse.move(to.x + 2, to.y + 8, { steps: 8 })
  await page.mouse.move(to.x + 2, to.y + 3, { steps: 3 })
}

function wordsOf(node: BodyNode): string {
  return node.text ?? (node.content ?? []).map((inner) => wordsOf(inner)).join('')
}
