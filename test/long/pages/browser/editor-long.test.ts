import { p } from '../../../document/build.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { bodyOf, make, put } from '../../../support/documents.ts'
import { until } from '../../../support/site.ts'
import { t } from '../../../support/tap.ts'
import { signedInBrowser, startWrittenService, WrittenPage } from '../../../support/written-page.ts'

/*
 * The editor of a long document, of which the page lays out what is near the screen. To people, it is like any other.
 */

const long = 600
const paragraphs = Array.from({ length: long }, (_, index) => p(`Elephant ${index} ${'walks '.repeat(index % 40)}`))

t.test('a long document', { skip: noChromium, timeout: 180_000 }, async (t) => {
  const service = await startWrittenService(t)
  const ada = await service.signUp({ workspace: 'Elephants', email: 'ada@example.test' })
  const browser = await startChromium(t)
  const reader = await signedInBrowser(browser, { service, userId: ada.user_id })
  const { id, blocks } = await make(ada, paragraphs)
  const ids = blocks.map(({ attrs }) => attrs.id)
  const open = () => WrittenPage.open(reader, { origin: service.origin, id })
  const first = await open()
  const { page } = first
  const ask = <Answer>(words: string) => page.evaluate<Answer>(words)
  const laidOut = () => ask<number>('document.querySelectorAll(".ProseMirror > [data-block-id].near").length')
  // The numbers of the blocks that begin on the screen.
  const onScreen = () =>
    ask<number[]>(`[...document.querySelectorAll('.ProseMirror > p')].flatMap((block, index) => {
      const { top, height } = block.getBoundingClientRect()
      return height > 0 && top >= 0 && top < innerHeight ? [index] : []
    })`)
  const untilOnScreen = (index: number) => until(async () => (await onScreen()).includes(index))
  const texts = async () => (await first.json()).map(({ content }) => content?.[0]?.['text'] ?? '')

  t.test('only a part of it is laid out, and every block comes when the page is scrolled', async (t) => {
    t.equal(await ask('document.querySelectorAll(".ProseMirror > [data-block-id]").length'), long)
    t.ok((await laidOut()) < 250, 'most blocks are not laid out')
    for (const share of [0.3, 0.9, 0.5]) {
      await ask(`scrollTo(0, ${share} * document.documentElement.scrollHeight)`)
      await until(async () => (await onScreen()).length > 5)
    }
    const before = await onScreen()
    await page.mouse.move(600, 400)
    for (let times = 0; times < 10; times += 1) {
      await page.mouse.wheel(0, -300)
      await until(async () => (await onScreen()).length > 5)
    }
    await until(async () => {
      const after = await onScreen()
      const isWithoutGap = after.every((index, at) => index === (after[0] ?? 0) + at)
      return isWithoutGap && after.length > 5 && (after[0] ?? long) < (before[0] ?? 0)
    })
    t.ok((await laidOut()) < 250)
  })

  t.test('keys lead to its ends and through it, and what is typed there is stored there', async (t) => {
    await first.place({ block: 3 })
    await page.keyboard.press('Control+End')
    await page.keyboard.type('the last')
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('The first: ')
    for (let times = 0; times < 4; times += 1) await page.keyboard.press('PageDown')
    await page.keyboard.type('!')
    await first.state.getByText('Saved').waitFor()
    const now = await texts()
    t.match(now[0], /^The first: Elephant 0/)
    t.match(now.at(-1), /the last$/)
    const paged = now.findIndex((text) => text.includes('!'))
    t.ok(paged > 20, `four screens lead to block ${paged}`)
    t.strictSame(
      (await bodyOf(ada, id)).blocks.map(({ content }) => content?.[0]?.['text'] ?? ''),
      now,
    )
  })

  t.test('a selection that reaches beyond the screen is deleted and comes back as a whole', async (t) => {
    await page.keyboard.press('Control+a')
    t.same(
      await ask(
        '(({ selection, doc }) => [selection.from, selection.to === doc.content.size])(document.querySelector(".ProseMirror").editor.state)',
      ),
      [0, true],
    )
    await first.place({ block: 5, offset: 3 })
    await page.keyboard.press('Control+Shift+End')
    await page.keyboard.press('Delete')
    t.equal((await texts()).length, 6)
    await page.keyboard.press('Control+z')
    t.strictSame(
      (await first.blocks()).map(({ attrs }) => attrs.id),
      ids,
    )
    await first.state.getByText('Saved').waitFor()
    await until(async () => (await bodyOf(ada, id)).blocks.length === long)
    // A person presses the button of the mouse, scrolls, and releases the button elsewhere.
    await ask('scrollTo(0, 0)')
    await untilOnScreen(2)
    await page.locator('.ProseMirror > p').nth(2).hover()
    await page.mouse.down()
    await page.mouse.move(500, 700)
    await page.mouse.wheel(0, 9000)
    await until(async () => ((await onScreen())[0] ?? 0) > 50)
    await page.mouse.move(500, 500)
    await page.mouse.up()
    const selected = () =>
      ask<[number, number]>(
        '(({ $from, $to }) => [$from.index(0), $to.index(0)])(document.querySelector(".ProseMirror").editor.state.selection)',
      )
    // The editor learns of the selection a moment after the mouse.
    await until(async () => (await selected())[1] > 50)
    t.equal((await selected())[0], 2)
  })

  t.test('what a person reads stays on the screen while others write above', async (t) => {
    await ask('scrollTo(0, 0.5 * document.documentElement.scrollHeight)')
    await until(async () => (await onScreen()).length > 5)
    await until(async () => (await onScreen()).includes((await onScreen())[3] ?? -1))
    const read = ids[(await onScreen())[3] ?? 0]
    const place = () => ask<number>(`document.querySelector('[data-block-id="${read}"]').getBoundingClientRect().top`)
    const before = await place()
    const nodes = Array.from({ length: 50 }, (_, index) => p(`Mouse ${index} ${'runs '.repeat(index * 3)}`))
    const added = await ada.post(`/documents/${id}/blocks`, { position: { after_block_id: ids[10] }, nodes })
    t.equal(added.status, 201)
    await until(async () => (await texts()).length === long + 50)
    t.ok(Math.abs((await place()) - before) < 2, `moved from ${before} to ${await place()}`)
    const operations = added.body.data.block_ids.map((block_id: string) => ({ op: 'delete', block_id }))
    t.equal((await ada.post(`/documents/${id}/batch`, { operations })).status, 200)
    await until(async () => (await texts()).length === long)
    t.ok(Math.abs((await place()) - before) < 2, `moved from ${before} to ${await place()}`)
  })

  t.test('a viewer who copies everything on the page gets the whole document', async (t) => {
    const viewer = await service.signUp({ workspace: 'Elephants', email: 'bob@example.test', role: 'viewer' })
    const { context } = await signedInBrowser(browser, { service, userId: viewer.user_id })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const other = await WrittenPage.open({ context, incidents: [] }, { origin: service.origin, id })
    await other.page.keyboard.press('Control+a')
    await other.page.keyboard.press('Control+c')
    const copied = await other.page.evaluate<string>('navigator.clipboard.readText()')
    const missing = Array.from({ length: long }, (_, index) => `Elephant ${index} `).filter(
      (words) => !copied.includes(words),
    )
    t.strictSame(missing, [])
    await context.close()
  })

  t.test('words, addresses and a program lead to blocks that were not laid out', async (t) => {
    await ask('scrollTo(0, 0)')
    await untilOnScreen(0)
    const changed = await put(
      ada,
      id,
      (await bodyOf(ada, id)).blocks.toSpliced(400, 1, { ...p('A mammoth'), attrs: { id: ids[400] ?? '' } }),
    )
    t.equal(changed.status, 200)
    await until(async () => (await page.locator('.ProseMirror').textContent())?.includes('A mammoth') === true)
    await page.keyboard.press('Control+f')
    await until(() => ask('document.activeElement.matches(".find input")'))
    await page.keyboard.type('mammoth')
    await until(async () => (await page.locator('.find .count').textContent()) === '1 of 1')
    await page.keyboard.press('Enter')
    await untilOnScreen(400)
    await page.keyboard.press('Escape')
    await until(() => ask('document.activeElement.matches(".ProseMirror")'))
    await ask(`void (location.hash = '${ids[500]}')`)
    await untilOnScreen(500)
    await page.emulateMedia({ media: 'print' })
    t.equal(
      await ask('[...document.querySelectorAll(".ProseMirror > p")].filter((block) => block.checkVisibility()).length'),
      long,
      'all of it is printed',
    )
    await page.emulateMedia({ media: 'screen' })
    // An address that is none does no harm.
    const second = await WrittenPage.open(reader, { origin: service.origin, id: `${id}#%` })
    await second.type({ block: 0 }, ' End.')
    await until(async () => ((await bodyOf(ada, id)).blocks[0]?.content?.[0]?.['text'] ?? '').endsWith('End.'))
  })

  t.test('nothing went wrong in any page', async (t) => {
    t.strictSame(reader.incidents, [])
  })
})
