import type { BlockNode, BodyNode } from '../../../../shared/body/document.ts'
import { plainText } from '../../../../shared/body/text.ts'
import { sql } from '../../../../shared/database/database.ts'
import { doc, h, node, p, text, ul } from '../../../document/build.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import type { Client } from '../../../support/client.ts'
import { bodyOf, make, shape } from '../../../support/documents.ts'
import { until } from '../../../support/site.ts'
import { t } from '../../../support/tap.ts'
import { type Reader, signedInBrowser, startWrittenService, WrittenPage } from '../../../support/written-page.ts'
import { agreement, blockIdsIn, pasteHtml, pasteText } from '../../../support/written-together.ts'

/*
 * Two people write in one document while a program writes in it by the API. After each scene both editors, the API and
 * the stored body say the same, and every block has an id of its own, which it keeps.
 */

const workspace = 'Elephants'

t.test('people and a program in one document', { skip: noChromium, timeout: 600_000 }, async (t) => {
  const service = await startWrittenService(t)
  const { origin, database } = service
  const ada = await service.signUp({ workspace, email: 'ada@example.test' })
  const grace = await service.signUp({ workspace, email: 'grace@example.test' })
  const browser = await startChromium(t)
  const person = (client: typeof ada) => signedInBrowser(browser, { service, userId: client.user_id })
  const [adas, graces] = [await person(ada), await person(grace)]

  /** A document with these blocks in the editors of Ada and Grace. `agree` ends when everybody has the same. */
  async function together(blocks: BodyNode[], readers: [Reader, Reader] = [adas, graces]) {
    const made = await make(ada, blocks)
    const { id } = made
    const first = await WrittenPage.open(readers[0], { origin, id })
    const second = await WrittenPage.open(readers[1], { origin, id })
    await Promise.all([first, second].map((one) => one.state.getByText('Saved').waitFor()))
    const agree = (pages = [first, second]) => agreement({ database, client: ada, id, pages })
    const close = () => Promise.all([first, second].map(({ page }) => page.close()))
    return { id, blocks: made.blocks, ids: ids(made.blocks), first, second, agree, close }
  }

  t.test('typing goes on while the API changes, inserts, moves and deletes other blocks', async (t) => {
    const names = ['Water', 'Food', 'Sleep', 'Trunks', 'Tusks', 'Ears']
    const { id, blocks, ids: before, first, second, agree, close } = await together(names.map((name) => p(name)))
    await Promise.all([first.place({ block: 0 }), second.place({ block: 5 })])
    const program = async () => {
      await patch(ada, { id, block: blocks[1] }, 'Good food')
      await insert(ada, id, { before_block_id: before[0] }, [h(1, 'Elephants')])
      await move(ada, id, { block: blocks[3], position: { document_start: true } })
      await ok(ada.delete(`/documents/${id}/blocks/${before[2]}`))
      await insert(ada, id, { document_end: true }, [p('End')])
    }
    await Promise.all([
      first.page.keyboard.type(' is what an elephant looks for every day', { delay: 15 }),
      second.page.keyboard.type(' are for hearing, and for fanning themselves', { delay: 15 }),
      program(),
    ])
    const after = await agree()
    t.strictSame(texts(after), [
      ...['Trunks', 'Elephants', 'Water is what an elephant looks for every day', 'Good food', 'Tusks'],
      ...['Ears are for hearing, and for fanning themselves', 'End'],
    ])
    const kept = [3, 0, 1, 4, 5].map((index) => before[index])
    t.strictSame(
      [0, 2, 3, 4, 5].map((index) => ids(after)[index]),
      kept,
    )
    await close()
  })

  t.test('the API changes the block in which two people write, and no word is lost', async (t) => {
    const { id, ids: before, first, second, agree, close } = await together([p('One elephant drinks.')])
    await Promise.all([first.place({ block: 0 }), second.place({ block: 0, offset: 0 })])
    await Promise.all([
      first.page.keyboard.type(' It also eats bark.', { delay: 15 }),
      second.page.keyboard.type('Look: ', { delay: 30 }),
      ok(
        ada.post(`/documents/${id}/content/edit`, {
          edits: [{ op: 'replace', find: 'elephant', replace: 'large elephant' }],
        }),
      ),
    ])
    const after = await agree()
    t.strictSame(texts(after), ['Look: One large elephant drinks. It also eats bark.'])
    t.strictSame(ids(after), before)
    await close()
  })

  t.test('a click into the text leads the next letters there while another person writes', async (t) => {
    const words = Array.from({ length: 14 }, (_, index) => `Tusk ${index} of an elephant`)
    const { first, second, agree, close } = await together(words.map((word) => p(word)))
    await second.place({ block: 0 })
    // Each letter also moves the cursor that the other page shows.
    await second.page.evaluate(`void (globalThis.typing = setInterval(() => {
      document.querySelector('.ProseMirror').editor.commands.insertContent('z')
    }, 15))`)
    for (const block of words.keys()) {
      if (block === 0) continue
      await first.page.evaluate('document.activeElement.blur()')
      await pause(60)
      await first.page.locator('.ProseMirror > p').nth(block).click()
      await first.page.keyboard.type('Q')
    }
    await second.page.evaluate('clearInterval(typing)')
    const after = texts(await agree())
    t.strictSame(
      after.map((text) => text.split('Q').length - 1),
      words.map((_, block) => Math.min(block, 1)),
    )
    await close()
  })

  t.test('blocks are split and joined while others write in them', async (t) => {
    const { ids: before, first, second, agree, close } = await together([p('Trunks. Tusks.'), p('Ferns'), p('Bark')])
    await Promise.all([first.place({ block: 0, offset: 7 }), second.place({ block: 0, offset: 6 })])
    await Promise.all([first.page.keyboard.press('Enter'), second.page.keyboard.type(' and ears')])
    const split = await agree()
    t.strictSame(texts(split), ['Trunks and ears.', ' Tusks.', 'Ferns', 'Bark'])
    t.strictSame([ids(split)[0], ...ids(split).slice(2)], before)

    await Promise.all([first.place({ block: 1, offset: 0 }), second.place({ block: 3 })])
    await Promise.all([first.page.keyboard.press('Backspace'), second.page.keyboard.type(' of trees')])
    const joined = await agree()
    t.strictSame(texts(joined), ['Trunks and ears. Tusks.', 'Ferns', 'Bark of trees'])
    t.strictSame(ids(joined), before)
    await first.place({ block: 0 })
    await first.page.keyboard.press('Delete')
    await second.type({ block: 0, offset: 0 }, 'Their ')
    const all = await agree()
    t.strictSame(texts(all), ['Their Trunks and ears. Tusks.Ferns', 'Bark of trees'])
    t.strictSame(ids(all), [before[0], before[2]])
    await close()
  })

  t.test('lists are made, indented and checked while others write in them', async (t) => {
    const task = (words: string) => node('taskItem', {}, p(words))
    const blocks = [p('Food'), node('taskList', {}, task('Fill the pool'), task('Weigh the calf')), p('End')]
    const { id, blocks: made, ids: before, first, second, agree, close } = await together(blocks)
    await second.page.locator('p', { hasText: 'Weigh the calf' }).click()
    await first.type({ block: 0 }, '\n- grass\nbark')
    await first.page.keyboard.press('Enter')
    await first.page.keyboard.press('Tab')
    const box = first.page.getByRole('checkbox')
    await Promise.all([first.page.keyboard.type('in winter'), patch(ada, { id, block: made[2] }, 'The end')])
    await second.page.keyboard.press('End')
    await Promise.all([second.page.keyboard.type(' and the cow'), box.first().check()])
    const after = await agree()
    const winter = node('listItem', {}, p('bark'), ul(p('in winter')))
    const wanted = doc(
      p('Food'),
      node('bulletList', {}, node('listItem', {}, p('grass')), winter),
      node('taskList', {}, node('taskItem', { checked: true }, p('Fill the pool')), task('Weigh the calf and the cow')),
      p('The end'),
    )
    t.strictSame(shape(after), shape(wanted.content))
    t.strictSame(
      [0, 2, 3].map((index) => ids(after)[index]),
      before,
    )
    const nested = blockIdsIn(made.slice(1))
    t.strictSame(
      nested.filter((one) => !blockIdsIn(after).includes(one)),
      [],
      'items keep their ids',
    )

    await second.page.keyboard.press('Shift+Tab')
    await first.page.keyboard.press('Shift+Tab')
    await first.page.keyboard.press('Enter')
    await first.page.keyboard.press('Enter')
    await first.page.keyboard.type('Water')
    const lifted = await agree()
    t.strictSame(texts(lifted).slice(0, 3), ['Food', 'grass\nbark\nin winter', 'Water'])
    await close()
  })

  t.test('two people write in two cells of a table that gets rows and columns meanwhile', async (t) => {
    const row = (type: string, ...words: string[]) =>
      node('tableRow', {}, ...words.map((one) => node(type, {}, one === '' ? node('paragraph') : p(one))))
    const table = node('table', {}, row('tableHeader', 'Age', 'Litres'), row('tableCell', '1', '20'))
    const { id, blocks, first, second, agree, close } = await together([p('Ages'), table])
    const cell = (one: WrittenPage, words: string) => one.page.locator('td p, th p', { hasText: words }).first()
    await cell(first, 'Litres').click()
    await cell(second, '20').click()
    await Promise.all([first.page.keyboard.press('End'), second.page.keyboard.press('End')])
    await Promise.all([
      first.page.keyboard.type(' of water', { delay: 10 }),
      second.page.keyboard.type(' at most', { delay: 10 }),
      patch(ada, { id, block: blocks[0] }, 'Ages of elephants'),
    ])
    await second.page.keyboard.press('Tab')
    await Promise.all([
      second.page.keyboard.type('30'),
      first.page.getByRole('button', { name: 'Add a column behind' }).click(),
    ])
    await agree()
    // The row and the column were added at once, so their common cell comes with the next change of the table.
    await first.page.keyboard.press('Tab')
    await first.page.keyboard.type('Remarks')
    const after = await agree()
    const wanted = node(
      'table',
      {},
      row('tableHeader', 'Age', 'Litres of water', 'Remarks'),
      row('tableCell', '1', '20 at most', ''),
      row('tableCell', '30', '', ''),
    )
    t.strictSame(shape(after), shape(doc(p('Ages of elephants'), wanted).content))
    const kept = blockIdsIn(blocks)
    t.strictSame(
      kept.filter((one) => !blockIdsIn(after).includes(one)),
      [],
      'cells keep their ids',
    )
    await close()
  })

  t.test('what is pasted from a word processor and from Markdown stands beside what others write', async (t) => {
    const {
      id,
      ids: before,
      first,
      second,
      agree,
      close,
    } = await together([p('Before'), node('paragraph'), p('After')])
    await first.place({ block: 1 })
    await second.place({ block: 2 })
    await Promise.all([
      pasteHtml(first, wordProcessorHtml),
      second.page.keyboard.type(' the pasted text', { delay: 10 }),
    ])
    const after = await agree()
    const item = (words: string) => node('listItem', {}, p(words))
    const oaks = node('orderedList', {}, item('of oaks'), item('of ashes'))
    const wanted = [
      p('Before'),
      h(1, 'Caring for elephants'),
      p(text('They '), text('drink', 'bold'), text(' a '), text('hundred', 'italic'), text(' litres.')),
      ul(p('grass')),
      node('bulletList', {}, node('listItem', {}, p('bark'), oaks), node('listItem', {}, p('fruit'))),
      p('After the pasted text'),
    ]
    t.strictSame(shape(after), shape(doc(...wanted).content))
    t.strictSame([ids(after)[0], ids(after).at(-1)], [before[0], before[2]])

    await second.place({ block: 5 })
    await second.page.keyboard.press('Enter')
    await Promise.all([
      pasteText(second, '## Food\n\n1. grass\n2. bark\n\n| a | b |\n|---|---|\n| 1 | 2 |'),
      first.type({ block: 0 }, ' all'),
    ])
    await until(async () => (await bodyOf(ada, id)).blocks.some(({ type }) => type === 'table'))
    const more = await agree()
    const types = more.map(({ type }) => type)
    t.strictSame(types.slice(6, 9), ['heading', 'orderedList', 'table'])
    t.equal(texts(more)[0], 'Before all')
    t.strictSame(ids(more).slice(0, 6), ids(after))
    await close()
  })

  t.test('undo takes back what one person did, and never what another or a program did', async (t) => {
    const { id, blocks, ids: before, first, second, agree, close } = await together([p('Water'), p('Food'), p('Sleep')])
    await first.type({ block: 0 }, ' of rivers')
    await second.type({ block: 0, offset: 0 }, 'Clean ')
    await second.type({ block: 1 }, ' and salt')
    await patch(ada, { id, block: blocks[2] }, 'Sleep standing')
    t.strictSame(texts(await agree()), ['Clean Water of rivers', 'Food and salt', 'Sleep standing'])
    await pause()
    await first.type({ block: 1, offset: 0 }, 'Much ')
    await pause()
    await first.select({ block: 2 })
    await first.page.keyboard.press('Control+b')
    await agree()
    for (let times = 0; times < 12; times += 1) await first.page.keyboard.press('Control+z')
    const undone = await agree()
    t.strictSame(shape(undone), shape(doc(p('Clean Water'), p('Food and salt'), p('Sleep standing')).content))
    for (let times = 0; times < 12; times += 1) await first.page.keyboard.press('Control+Shift+z')
    const again = await agree()
    t.strictSame(texts(again), ['Clean Water of rivers', 'Much Food and salt', 'Sleep standing'])
    t.strictSame([ids(undone), ids(again)], [before, before])

    // The caret stays where it was before an undo, also when others write next.
    await first.place({ block: 2 })
    await first.page.keyboard.press('Control+z')
    await agree()
    await second.type({ block: 0, offset: 0 }, 'Very ')
    await agree()
    await first.page.keyboard.type('!')
    t.equal(texts(await agree())[2], 'Sleep standing!')
    await close()
  })

  t.test('undo of a heading by the keys or the button keeps what another has typed into it', async (t) => {
    const { id, first, second, agree, close } = await together([p('one'), p('two')])
    await first.place({ block: 1 })
    await first.page.keyboard.press('Control+Alt+2')
    await agree()
    await second.type({ block: 1 }, ' REMOTE')
    await agree()
    await first.page.keyboard.press('Control+z')
    t.strictSame(shape(await agree()), shape(doc(p('one'), p('two REMOTE')).content))
    await first.page.keyboard.press('Control+Shift+z')
    await agree()
    await edit(ada, { id, find: 'REMOTE', replace: 'PROGRAM' })
    t.strictSame(shape(await agree()), shape(doc(p('one'), h(2, 'two PROGRAM')).content))
    await first.page.getByRole('button', { name: 'Undo' }).click()
    t.strictSame(shape(await agree()), shape(doc(p('one'), p('two PROGRAM')).content))
    await close()
  })

  t.test('a composition stays whole when a program changes its block', async (t) => {
    for (const [find, replace, expected] of [
      ['two', 'TWO', 'one TWO日本'],
      ['one', 'A longer one', 'A longer one two日本'],
    ] as const) {
      const { id, first, agree, close } = await together([p('one two')])
      await first.place({ block: 0 })
      const input = await first.page.context().newCDPSession(first.page)
      const compose = (words: string) =>
        input.send('Input.imeSetComposition', { text: words, selectionStart: words.length, selectionEnd: words.length })
      await compose('にほ')
      await edit(ada, { id, find, replace })
      await pause()
      await compose('にほん')
      await input.send('Input.insertText', { text: '日本' })
      t.strictSame(texts(await agree()), [expected])
      await first.page.keyboard.type('!')
      t.strictSame(texts(await agree()), [`${expected}!`], 'the caret is behind it')
      await close()
    }
  })

  t.test('undo of a split, a join, a list and a deletion brings back every block under its id', async (t) => {
    const { ids: before, first, second, agree, close } = await together([p('Trunks. Tusks.'), p('Ferns'), p('Bark')])
    const undo = async () => {
      await pause()
      await second.type({ block: 0, offset: 0 }, '-')
      await agree()
      await first.page.keyboard.press('Control+z')
      return agree()
    }
    await first.type({ block: 0, offset: 7 }, '\n')
    t.strictSame(texts(await undo()), ['-Trunks. Tusks.', 'Ferns', 'Bark'])
    await first.place({ block: 2, offset: 0 })
    await first.page.keyboard.press('Backspace')
    t.strictSame(texts(await undo()), ['--Trunks. Tusks.', 'Ferns', 'Bark'])
    await first.place({ block: 1, offset: 0 })
    await first.page.keyboard.press('Control+Shift+8')
    t.strictSame(texts(await undo()), ['---Trunks. Tusks.', 'Ferns', 'Bark'])
    await first.page.keyboard.press('Control+a')
    await first.page.keyboard.press('Delete')
    const back = await undo()
    t.match(texts(back).slice(-2), ['Ferns', 'Bark'])
    t.strictSame(ids(back).slice(-3), before)
    await close()
  })

  t.test('Chinese and Japanese are composed while another person and the API write', async (t) => {
    const { id, blocks, ids: before, first, second, agree, close } = await together([p('大象'), p('食物'), p('End')])
    const input = await first.page.context().newCDPSession(first.page)
    const compose = (words: string) =>
      input.send('Input.imeSetComposition', { text: words, selectionStart: words.length, selectionEnd: words.length })
    await first.place({ block: 0 })
    for (const step of ['h', 'he', 'he s', 'he shu', '喝水']) {
      await compose(step)
      if (step === 'he') await second.type({ block: 1 }, '好')
      if (step === 'he s') await patch(ada, { id, block: blocks[2] }, 'The end')
      if (step === 'he shu') await second.type({ block: 0, offset: 0 }, '一头')
      await pause()
    }
    await input.send('Input.insertText', { text: '喝水' })
    t.strictSame(texts(await agree()), ['一头大象喝水', '食物好', 'The end'])
    await first.page.keyboard.press('Enter')
    for (const step of ['ぞ', 'ぞう', '象']) await compose(step)
    await input.send('Input.insertText', { text: '象' })
    await first.page.keyboard.type('.')
    const after = await agree()
    t.strictSame(texts(after), ['一头大象喝水', '象.', '食物好', 'The end'])
    t.strictSame([ids(after)[0], ...ids(after).slice(2)], before)

    // A composition that the person cancels leaves nothing behind.
    await compose('か')
    await compose('')
    await first.page.keyboard.type('!')
    t.equal(texts(await agree())[1], '象.!')
    await close()
  })

  t.test('Arabic and Hebrew are typed from right to left, beside English', async (t) => {
    const { first, second, agree, close } = await together([node('paragraph'), p('Water')])
    await first.place({ block: 0 })
    await Promise.all([
      first.page.keyboard.type('يشرب الفيل 100 لتر npm start كل يوم', { delay: 5 }),
      second.type({ block: 1 }, ' and מים'),
    ])
    t.strictSame(texts(await agree()), ['يشرب الفيل 100 لتر npm start كل يوم', 'Water and מים'])
    await first.page.keyboard.press('Home')
    await first.page.keyboard.type('نعم ')
    await first.page.keyboard.press('ArrowLeft')
    await first.page.keyboard.press('Delete')
    t.equal(texts(await agree())[0], 'نعم يرب الفيل 100 لتر npm start كل يوم', 'the left arrow goes on in the text')
    await close()
  })

  t.test('what is written while a connection is away is merged when it is back', async (t) => {
    const { id, blocks, ids: before, first, second, agree, close } = await together([p('Water'), p('Food'), p('End')])
    await first.page.context().setOffline(true)
    await first.state.getByText('Offline').waitFor()
    await first.type({ block: 0 }, ' of rivers\nand lakes')
    await first.state.getByText('Your changes are kept on this device').waitFor()
    await second.type({ block: 0, offset: 0 }, 'Clean ')
    await patch(ada, { id, block: blocks[1] }, 'Good food')
    await move(ada, id, { block: blocks[2], position: { document_start: true } })
    await pause(awayMs)
    await first.page.context().setOffline(false)
    const after = await agree()
    t.strictSame(texts(after), ['End', 'Clean Water of rivers', 'and lakes', 'Good food'])
    t.strictSame([ids(after)[1], ids(after)[3], ids(after)[0]], before)
    await first.state.getByText('Saved').waitFor()
    await close()
  })

  t.test('a reload in the middle of a sentence loses no letter', async (t) => {
    const { ids: before, first, second, agree, close } = await together([p('Water'), p('Food')])
    const words = Array.from({ length: 6 }, (_, number) => ` sentence ${number}`)
    for (const one of words) {
      await first.type({ block: 0 }, one)
      await Promise.all([first.page.reload(), second.type({ block: 1 }, one)])
      await first.page.locator('.ProseMirror').waitFor()
    }
    const after = await agree()
    t.strictSame(texts(after), [`Water${words.join('')}`, `Food${words.join('')}`])
    t.strictSame(ids(after), before)
    await close()
  })

  t.test('an earlier version comes back while people type, and they go on in it', async (t) => {
    const { id, blocks, ids: before, first, second, agree, close } = await together([p('Water'), p('Food'), p('End')])
    await patch(ada, { id, block: blocks[1] }, 'Poison')
    await ok(ada.delete(`/documents/${id}/blocks/${before[2]}`))
    await agree()
    const { data: versions } = (await ada.get(`/documents/${id}/versions`)).body
    const oldest = versions.at(-1)
    await first.place({ block: 0 })
    await second.place({ block: 0, offset: 0 })
    const restored = ada.post(`/documents/${id}/versions/${oldest.seq}/rollback`, undefined, { 'if-match': '*' })
    await Promise.all([
      first.page.keyboard.type(' of rivers', { delay: 40 }),
      second.page.keyboard.type('Clean and ', { delay: 60 }),
      ok(restored),
    ])
    await Promise.all([
      first.page.keyboard.type(' and of lakes', { delay: 40 }),
      second.page.keyboard.type('cold ', { delay: 60 }),
    ])
    const after = await agree()
    t.strictSame(texts(after).slice(1), ['Food', 'End'])
    t.strictSame(ids(after), before)
    // The version that comes back lacks what was stored before it. What is typed later stands in one piece. A word in
    // which somebody typed at that moment comes back as a whole, before or behind what was typed.
    const [text = ''] = texts(after)
    t.equal(text.split('Water').length, 2, 'what comes back is there once')
    t.match(text, ' and of lakes')
    t.match(text, 'cold ')
    await close()
  })

  t.test('a person who loses membership while typing is stopped in words, and others write on', async (t) => {
    const hopper = await service.signUp({ workspace, email: 'hopper@example.test' })
    const hoppers = await person(hopper)
    const { first, second, agree } = await together([p('Water'), p('Food')], [adas, hoppers])
    await second.type({ block: 1 }, ' and salt')
    await second.state.getByText('Saved').waitFor()
    const out = database.query(sql.unsafe`DELETE FROM memberships WHERE user_id = ${hopper.user_id}`)
    await Promise.all([
      out,
      first.type({ block: 0 }, ' of rivers'),
      second.page.keyboard.type(' and much more that nobody may ever see', { delay: 60 }),
    ])
    await second.page.getByRole('alert').getByText('you may no longer read it').waitFor()
    t.equal(await second.text.getAttribute('contenteditable'), 'false')
    const after = await agree([first])
    t.match(texts(after)[0], 'Water of rivers')
    t.match(texts(after)[1], /^Food and salt/)
    t.strictSame(hoppers.incidents, [])
    await Promise.all([first.page.close(), hoppers.context.close()])
  })

  t.test('what a person wrote who may only read now is shown to that person as not saved, and copied', async (t) => {
    const hopper = await service.signUp({ workspace, email: 'hopper@example.test' })
    const hoppers = await person(hopper)
    await hoppers.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const { first, second, agree } = await together([p('Water'), p('Food')], [adas, hoppers])
    await hoppers.context.setOffline(true)
    await second.state.getByText('Offline').waitFor()
    await second.type({ block: 0 }, ' of rivers\nand lakes')
    await second.state.getByText('Your changes are kept on this device').waitFor()
    await database.query(sql.unsafe`UPDATE memberships SET role = 'viewer' WHERE user_id = ${hopper.user_id}`)
    await first.type({ block: 1 }, ' and salt')
    await hoppers.context.setOffline(false)
    const alert = second.page.getByRole('alert')
    await alert.getByText('because you may only read this document now').waitFor()
    await second.state.getByText('Read only').waitFor()
    t.strictSame(texts(await agree()), ['Water', 'Food and salt'])
    t.equal(await alert.locator('q').textContent(), 'of rivers\nand lakes')
    await alert.getByRole('button', { name: 'Copy the text' }).click()
    t.equal(await second.page.evaluate('navigator.clipboard.readText()'), 'of rivers\nand lakes')
    await second.page.reload()
    await alert.getByText('because you may only read this document now').waitFor()
    await alert.getByRole('button', { name: 'Dismiss' }).click()
    await second.page.reload()
    await second.state.getByText('Read only').waitFor()
    t.equal(await second.page.getByText('because you may only').count(), 0)
    t.strictSame(texts(await agree()), ['Water', 'Food and salt'])
    await Promise.all([first.page.close(), hoppers.context.close()])
  })

  t.test('nothing that a viewer does changes the document', async (t) => {
    const viewer = await service.signUp({ role: 'viewer', workspace, email: 'viewer@example.test' })
    const viewers = await person(viewer)
    const blocks = [
      p('Water'),
      node('taskList', {}, node('taskItem', {}, p('Fill the pool'))),
      node('details', {}, node('detailsSummary', {}, text('More')), node('detailsContent', {}, p('Trunks'))),
      node('blockMath', { latex: 'x^2' }),
    ]
    const { id, blocks: made, first, second, agree } = await together(blocks, [adas, adas])
    const third = await WrittenPage.open(viewers, { origin, id })
    await third.state.getByText('Read only').waitFor()
    await third.page.getByText('Water').click()
    await third.page.keyboard.type('poison')
    await third.page.keyboard.press('Control+b')
    await third.page.keyboard.press('Control+k')
    await pasteHtml(third, '<p>poison</p>')
    await third.page.getByRole('checkbox').click()
    await third.page.getByRole('button', { name: 'Show the details' }).click()
    await third.page.locator('.ProseMirror [data-latex]').dblclick()
    t.equal(await third.page.getByRole('dialog').count(), 0)
    t.equal(await third.page.getByRole('checkbox').isChecked(), false, 'the box says what is stored')
    await first.type({ block: 0 }, ' flows')
    const after = await agree([first, second, third])
    t.strictSame(shape(after), shape([...doc(p('Water flows')).content, ...made.slice(1)]))
    t.strictSame(viewers.incidents, [])
    await Promise.all([first.page.close(), second.page.close(), viewers.context.close()])
  })

  t.test('one person writes in two tabs, and each tab undoes its own', async (t) => {
    const { id, ids: before, first, second, agree, close } = await together([p('Water'), p('Food')], [adas, adas])
    await Promise.all([first.type({ block: 0 }, ' of rivers'), second.type({ block: 1 }, ' and salt')])
    t.strictSame(texts(await agree()), ['Water of rivers', 'Food and salt'])
    await adas.context.setOffline(true)
    await Promise.all([first.type({ block: 0 }, ', one'), second.type({ block: 1 }, ', two')])
    await Promise.all(
      [first, second].map((one) => one.state.getByText('Your changes are kept on this device').waitFor()),
    )
    await second.page.close()
    await adas.context.setOffline(false)
    // The tab that is left sends what the closed tab has kept, before it calls everything saved.
    await until(async () => texts(await agree([first]))[1] === 'Food and salt, two')
    const third = await WrittenPage.open(adas, { origin, id })
    t.strictSame(texts(await agree([first, third])), ['Water of rivers, one', 'Food and salt, two'])
    for (let times = 0; times < 8; times += 1) await first.page.keyboard.press('Control+z')
    const undone = await agree([first, third])
    t.strictSame(texts(undone), ['Water', 'Food and salt, two'])
    t.strictSame(ids(undone), before)
    await Promise.all([close(), third.page.close()])
  })

  t.test('nothing went wrong in any page, and no page asked another host', async (t) => {
    // The policy refuses the styles of pasted HTML, and no connection is made while a page is offline.
    const expected = /^policy (style-src-attr|style-src-elem) inline|WebSocket connection to|ERR_INTERNET_DISCONNECTED/
    const incidents = [adas, graces].flatMap((reader) => reader.incidents)
    t.strictSame(
      incidents.filter((incident) => !expected.test(incident)),
      [],
    )
  })
})

// How long a connection is away, in milliseconds. `AWAY_MS=10000` is the long form.
const awayMs = Number(process.env['AWAY_MS'] ?? 2000)

// What Google Docs and Word put on the clipboard, shortened: bold as a weight, a bold element that is none, and a list
// of Word, whose items are paragraphs.
const wordProcessorHtml = `<html xmlns:o="urn:schemas-microsoft-com:office:office"><head><meta charset="utf-8">
  <style>p.MsoNormal {margin: 0cm; font-family: "Calibri"}</style></head><body>
  <!--StartFragment--><b style="font-weight:normal;" id="docs-internal-guid-1234"><h1 style="font-size:20pt">Caring for
  elephants</h1><p class=MsoNormal dir="ltr"><span style="font-weight:400">They </span><span
  style="font-weight:700">drink</span><span style="color:#000000"> a </span><span
  style="font-style:italic">hundred</span><span> litres.</span><o:p></o:p></p><ul><li dir="ltr" aria-level="1"><p
  dir="ltr" role="presentation"><span>grass</span></p></li></ul></b>
  ${itemOfWord(1, '·', 'bark')}${itemOfWord(2, '1.', 'of oaks')}${itemOfWord(2, '2.', 'of ashes')}${itemOfWord(1, '·', 'fruit')}
  <!--EndFragment--></body></html>`

function itemOfWord(level: number, sign: string, words: string): string {
  return `<p class=MsoListParagraphCxSpMiddle style='margin-left:36.0pt;mso-add-space:auto;text-indent:-18.0pt;
  mso-list:l0 level${level} lfo1'><![if !supportLists]><span style='font-family:Symbol'><span
  style='mso-list:Ignore'>${sign}<span style='font:7.0pt "Times New Roman"'>&nbsp;&nbsp;&nbsp;
  </span></span></span><![endif]>${words}<o:p></o:p></p>\n`
}

// Undo takes back at once what was typed within half a second.
function pause(ms = 600): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function ok(reply: ReturnType<Client['get']>): Promise<void> {
  const { status, text } = await reply
  if (status >= 300) throw new Error(text)
}

function edit(client: Client, { id, find, replace }: { id: string; find: string; replace: string }) {
  return ok(client.post(`/documents/${id}/content/edit`, { edits: [{ op: 'replace', find, replace }] }))
}

function patch(client: Client, { id, block }: { id: string; block: BlockNode | undefined }, words: string) {
  return ok(client.patch(`/documents/${id}/blocks/${block?.attrs.id}`, { content: [text(words)] }))
}

function insert(client: Client, id: string, position: object, nodes: BodyNode[]) {
  return ok(client.post(`/documents/${id}/blocks`, { position, nodes }))
}

function move(client: Client, id: string, { block, position }: { block: BlockNode | undefined; position: object }) {
  const operations = [
    { op: 'delete', block_id: block?.attrs.id },
    { op: 'insert', position, nodes: [block] },
  ]
  return ok(client.post(`/documents/${id}/batch`, { operations }))
}

function ids(blocks: readonly BlockNode[]): string[] {
  return blocks.map(({ attrs }) => attrs.id)
}

function texts(blocks: readonly BodyNode[]): string[] {
  return blocks.map(plainText)
}
