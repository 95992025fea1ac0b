import type { BlockNode, BodyNode } from '../../../shared/body/document.ts'
import { bodySchema } from '../../../shared/body/nodes.ts'
import { plainText } from '../../../shared/body/text.ts'
import { sql } from '../../../shared/database/database.ts'
import { doc, h, node, p, text, ul } from '../../document/build.ts'
import { samples, uploaded } from '../../support/attachments.ts'
import type { Client } from '../../support/client.ts'
import { bodyOf, make, put, shape } from '../../support/documents.ts'
import { everyNode } from '../../support/every-node.ts'
import { onlyLong } from '../../support/run-options.ts'
import { until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'
import { signedInBrowser, startWrittenService, WrittenPage } from '../../support/written-page.ts'
import { blockIdsIn } from '../../support/written-together.ts'
import { noChromium, startChromium } from './chromium.ts'

/*
 * People who write in the editor of the service, signed in by a session, while programs write by the API.
 */

const workspace = 'Elephants'

t.test('the editor of the service', { skip: noChromium }, async (t) => {
  const service = await startWrittenService(t)
  const { origin } = service
  const ada = await service.signUp({ workspace, email: 'ada@example.test' })
  const grace = await service.signUp({ workspace, email: 'grace@example.test' })
  const browser = await startChromium(t)
  const person = (client: typeof ada) => signedInBrowser(browser, { service, userId: client.user_id })
  const [adas, graces] = [await person(ada), await person(grace)]
  const incidents = [adas.incidents, graces.incidents]

  t.test('the schema of the editor is that of bodies, so that it deletes nothing', async (t) => {
    const { id } = await make(ada, [p('x')])
    const { page } = await WrittenPage.open(adas, { origin, id })
    const known = (await page.evaluate(`(() => {
      const { nodes, marks } = document.querySelector('.ProseMirror').editor.schema
      const attrs = (spec) => Object.fromEntries(Object.entries(spec.attrs ?? {}).map(([name, one]) =>
        [name, 'default' in one ? JSON.stringify(one.default) : 'required']))
      const rules = ({ spec }) => ({ content: spec.content ?? '', excludes: spec.excludes ?? '', attrs: attrs(spec) })
      return Object.fromEntries(Object.values({ ...nodes, ...marks }).map((type) => [type.name, rules(type)]))
    })()`)) as object
    const attrs = (spec: { attrs?: object | null }) =>
      Object.fromEntries(
        Object.entries((spec.attrs ?? {}) as Record<string, { default?: unknown }>).map(([name, one]) => [
          name,
          'default' in one ? JSON.stringify(one.default) : 'required',
        ]),
      )
    const types = Object.values({ ...bodySchema.nodes, ...bodySchema.marks })
    const wanted = types.map(({ name, spec }) => {
      const { content = '', excludes = '' } = spec as { content?: string; excludes?: string }
      return [name, { content, excludes, attrs: attrs(spec) }] as const
    })
    t.same(known, Object.fromEntries(wanted))
    await page.close()
  })

  t.test('what two people type and a program patches at once is all there, for everybody', async (t) => {
    const { id, blocks } = await make(ada, [p('An elephant drinks.'), p('It eats.'), p('It sleeps.')])
    const first = await WrittenPage.open(adas, { origin, id })
    const second = await WrittenPage.open(graces, { origin, id })
    await Promise.all([
      first.type({ block: 0 }, ' A hundred'),
      second.type({ block: 1 }, ' Grass.'),
      patch(ada, { id, block: blocks[2] }, 'It sleeps three hours.'),
    ])
    await second.page.locator('.collaboration-carets__label', { hasText: 'ada' }).waitFor()
    const after = await untilAllSee(ada, id, [first, second])
    t.strictSame(texts(after), ['An elephant drinks. A hundred', 'It eats. Grass.', 'It sleeps three hours.'])
    t.strictSame(ids(after), ids(blocks), 'every block keeps its id')
    await first.state.getByText('Saved').waitFor()

    // Undo takes back at once what was typed within half a second. After so many times, nothing of hers is left.
    for (let times = 0; times < 15; times += 1) await first.page.keyboard.press('Control+z')
    const undone = await untilAllSee(ada, id, [first, second])
    t.strictSame(texts(undone), ['An elephant drinks.', 'It eats. Grass.', 'It sleeps three hours.'])
    await Promise.all([first.page.close(), second.page.close()])
  })

  t.test('Enter leaves each id with its text', async (t) => {
    const { id, blocks } = await make(ada, [p('Trunks. Tusks.'), p('Ferns'), p('End'), ul(p('a'), p('b'))])
    const one = await WrittenPage.open(adas, { origin, id })
    await one.type({ block: 0, offset: 7 }, '\n')
    const split = await untilAllSee(ada, id, [one])
    t.strictSame(texts(split), ['Trunks.', ' Tusks.', 'Ferns', 'End', 'a\nb'])
    t.strictSame([ids(split)[0], ...ids(split).slice(2)], ids(blocks))
    await one.type({ block: 2, offset: 0 }, '\n')
    const before = await untilAllSee(ada, id, [one])
    t.strictSame(texts(before), ['Trunks.', ' Tusks.', '', 'Ferns', 'End', 'a\nb'])
    t.strictSame(ids(before).slice(3), ids(split).slice(2), 'the empty block before it is the new block')
    t.equal(new Set(ids(before)).size, 6)
    // Between the letters are the ends of a paragraph and of its item, and the starts of the next.
    await one.type({ block: 5, offset: 7 }, '\n')
    const [first, empty, last] = (await untilAllSee(ada, id, [one]))[5]?.content ?? []
    t.strictSame([first, last], before[5]?.content, 'the item with the text keeps its id')
    t.same(empty?.content?.[0]?.content ?? [], [])
    await one.page.close()
  })

  t.test('a block whose type changes keeps its id', onlyLong, async (t) => {
    const { id, blocks } = await make(ada, [p('One'), p('Two'), p('Three'), ul(p('a'), p('b'))])
    const one = await WrittenPage.open(adas, { origin, id })
    await one.place({ block: 0, offset: 1 })
    await one.page.keyboard.press('Shift+ArrowDown')
    await one.page.keyboard.press('Control+Alt+2')
    await one.type({ block: 2, offset: 0 }, '# ')
    await one.page.getByText('a', { exact: true }).click()
    await one.page.keyboard.press('Control+Shift+7')
    const after = await untilAllSee(ada, id, [one])
    t.strictSame(texts(after), texts(blocks))
    const types = after.map(({ type }) => type)
    t.strictSame(types, ['heading', 'heading', 'heading', 'orderedList'])
    t.strictSame(ids(after), ids(blocks))
    t.strictSame(after[3]?.content, blocks[3]?.content)
    // A list whose items can be done has items of another type.
    await one.page.keyboard.press('Control+Shift+9')
    const done = (await untilAllSee(ada, id, [one]))[3]
    t.same([done?.type, done?.content?.[0]?.type], ['taskList', 'taskItem'])
    t.strictSame(blockIdsIn(done ? [done] : []), blockIdsIn(blocks.slice(3)))
    await one.page.keyboard.press('Control+Shift+8')
    t.strictSame((await untilAllSee(ada, id, [one]))[3], blocks[3])
    await one.page.close()
  })

  t.test('an editor changes nothing but what is typed, whatever the document contains', async (t) => {
    const { id } = await make(ada, [p('x')])
    const attachmentId = await uploaded(ada, { documentId: id, bytes: samples.png })
    await put(ada, id, everyNode({ attachmentId, documentId: id }))
    const { blocks } = await bodyOf(ada, id)
    const one = await WrittenPage.open(adas, { origin, id })
    t.strictSame(await one.blocks(), blocks)
    const typed = blocks.flatMap(({ type }, block) => (['paragraph', 'heading'].includes(type) ? [block] : []))
    for (const block of typed) await one.type({ block }, '!')
    const after = await untilAllSee(ada, id, [one])
    const back = after.map((block, index) => (typed.includes(index) ? withoutLastCharacter(block) : block))
    t.strictSame(back, blocks)
    const width = 'document.querySelector(".ProseMirror .picture img").naturalWidth'
    await until(async () => (await one.page.evaluate(width)) === 1)
    if (process.env['SCREENSHOTS']) {
      await one.page.screenshot({ path: `${process.env['SCREENSHOTS']}/editor.png`, fullPage: true })
    }
    await one.page.close()
  })

  t.test('a letter that is typed leaves the line ends around it as they are, and they look like blanks', async (t) => {
    const wrapped = 'one two three\nfour five\nsix'
    const quote = node('blockquote', {}, p(wrapped))
    const note = node('footnoteDefinition', { label: 'a' }, p(wrapped))
    const code = node('codeBlock', { language: null }, text(wrapped))
    const made = await make(ada, [
      p(wrapped),
      h(2, 'Title'),
      ul(p(wrapped)),
      quote,
      note,
      p(text('a\nb', 'bold')),
      code,
    ])
    const { id, blocks } = made
    const one = await WrittenPage.open(adas, { origin, id })
    const look =
      '[...document.querySelectorAll(".ProseMirror p, .ProseMirror pre")].map((one) => one.innerText.includes("\\n"))'
    t.strictSame(await one.page.evaluate(look), [false, false, false, false, false, true])
    for (const block of blocks.keys())
      await one.type({ block, offset: block === 2 ? 3 : [3, 4].includes(block) ? 2 : 1 }, '!')
    const after = await untilAllSee(ada, id, [one])
    t.strictSame(JSON.parse(JSON.stringify(after).replaceAll('!', '')), blocks)
    t.equal(JSON.stringify(after).split('!').length - 1, blocks.length)
    t.equal(texts(after)[0], 'o!ne two three\nfour five\nsix')
    await one.select({ block: 0 })
    await one.page.keyboard.press('Control+c')
    await one.page.keyboard.press('ArrowRight')
    await one.page.keyboard.press('Control+v')
    const pasted = await untilAllSee(ada, id, [one])
    t.equal(texts(pasted)[0], 'o!ne two three\nfour five\nsix'.repeat(2), 'a copy has the line ends, too')
    await one.page.close()
  })

  t.test('formulas, code and tasks of other pages are pasted as what they are, and pictures are named', async (t) => {
    const { id } = await make(ada, [p('x')])
    const one = await WrittenPage.open(adas, { origin, id })
    const math = (latex: string, display = '') =>
      `<math xmlns="http://www.w3.org/1998/Math/MathML"${display}><semantics><mi>E</mi><annotation encoding="application/x-tex">${latex}</annotation></semantics></math>`
    const katex = (latex: string, display = '') =>
      `<span class="katex"><span class="katex-mathml">${math(latex, display)}</span><span class="katex-html" aria-hidden="true"><span>E</span></span></span>`
    const formula = (latex: string) => node('inlineMath', { latex })
    const block = (latex: string) => node('blockMath', { latex })
    const code = (language: string | null, words: string) => node('codeBlock', { language }, text(words))
    const task = (checked: boolean, words: string, ...more: BodyNode[]) =>
      node('taskItem', { checked }, p(words), ...more)
    const tasks = (...items: BodyNode[]) => node('taskList', {}, ...items)
    const cases: [string, BodyNode[]][] = [
      [`<p>Energy ${katex('E=mc^2')} holds.</p>`, [p(text('Energy '), formula('E=mc^2'), text(' holds.'))]],
      [
        `<p>So</p><span class="katex-display">${katex('a&lt;b', ' display="block"')}</span><p>it is.</p>`,
        [p('So'), block('a<b'), p('it is.')],
      ],
      [
        `<p>So <mjx-container class="MathJax" jax="CHTML"><mjx-math></mjx-math><mjx-assistive-mml>${math('x_1')}</mjx-assistive-mml></mjx-container></p>`,
        [p(text('So '), formula('x_1'))],
      ],
      [
        `<p>a</p><mjx-container class="MathJax" display="true"><svg></svg><mjx-assistive-mml>${math('y', ' display="block"')}</mjx-assistive-mml></mjx-container>`,
        [p('a'), block('y')],
      ],
      [
        `<p>Let <span class="MathJax_Preview"></span><span class="MathJax" data-mathml="&lt;math&gt;&lt;/math&gt;"><nobr>z</nobr></span><script type="math/tex">z</script> be</p>`,
        [p(text('Let '), formula('z'), text(' be'))],
      ],
      [
        `<p>W <span class="mwe-math-element"><span>${math('{w}')}</span><img class="mwe-math-fallback-image-inline" src="https://elsewhere.example/w.svg" alt="{w}"></span></p>`,
        [p(text('W '), formula('{w}'))],
      ],
      [
        '<pre><div>python</div><div><code class="language-python">print(1)<br>print(2)</code></div></pre>',
        [code('python', 'print(1)\nprint(2)')],
      ],
      [
        '<pre><div><div>bash</div><button>Copy code</button></div><div><code class="hljs"><span>ls</span> -l</code></div></pre>',
        [code('bash', 'ls -l')],
      ],
      [
        '<p>Python</p><div><div class="bar"><span>JavaScript</span><button>Copy</button></div><pre><code class="language-js">a()</code></pre></div>',
        [p('Python'), code('js', 'a()')],
      ],
      [
        '<div class="highlight highlight-source-ts"><pre>let a\nlet b</pre><div><clipboard-copy>Copy</clipboard-copy></div></div>',
        [code('ts', 'let a\nlet b')],
      ],
      ['<pre>plain\n  text</pre>', [code(null, 'plain\n  text')]],
      [
        '<ul class="contains-task-list"><li class="task-list-item"><input type="checkbox" checked> done</li><li class="task-list-item"><input type="checkbox"> open</li></ul>',
        [tasks(task(true, 'done'), task(false, 'open'))],
      ],
      [
        '<div id="docs-internal-guid-1"><ul><li role="checkbox" aria-checked="true"><img src="data:image/png;base64,AA" aria-roledescription="checkbox" alt="checked"><p>done</p></li><li role="checkbox" aria-checked="false"><p>open</p></li></ul></div>',
        [tasks(task(true, 'done'), task(false, 'open'))],
      ],
      [
        '<ul><li>a</li><li><label><input type="checkbox" checked> b</label><ul><li><input type="checkbox"> c</li></ul></li><li>d</li></ul>',
        [ul(p('a')), tasks(task(true, 'b', tasks(task(false, 'c')))), ul(p('d'))],
      ],
    ]
    const data = (html: string) => `(() => {
      const { editor } = document.querySelector('.ProseMirror')
      editor.commands.setContent('<p></p>')
      const data = new DataTransfer()
      data.setData('text/html', ${JSON.stringify(html)})
      const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
      document.querySelector('.ProseMirror').dispatchEvent(event)
    })()`
    for (const [html, wanted] of cases) {
      await one.page.evaluate(data(html))
      t.strictSame(shape(await one.blocks()), shape(doc(...wanted).content), html)
    }
    t.equal(await one.page.getByRole('alert').getByText('not pasted').count(), 0)
    await one.page.evaluate(data('<p>a <img src="https://elsewhere.example/b.png"> <img src="x" alt="A trunk"></p>'))
    await one.page.getByRole('alert').getByText('2 pictures were not pasted: “b.png”, “A trunk”.').waitFor()
    await untilAllSee(ada, id, [one])
    await one.page.close()
  })

  t.test('a viewer reads the document as it is typed, and cannot change it', onlyLong, async (t) => {
    const viewer = await service.signUp({ role: 'viewer', workspace, email: 'viewer@example.test' })
    const { id } = await make(ada, [p('Water')])
    const reader = await person(viewer)
    const reading = await WrittenPage.open(reader, { origin, id })
    const writing = await WrittenPage.open(adas, { origin, id })
    await reading.state.getByText('Read only').waitFor()
    t.equal(await reading.text.getAttribute('contenteditable'), 'false')
    await writing.type({ block: 0 }, ' flows')
    t.strictSame(texts(await untilAllSee(ada, id, [reading, writing])), ['Water flows'])
    t.strictSame(reader.incidents, [])
    await Promise.all([reading.page.close(), writing.page.close()])
  })

  t.test('a document with an address in its first line is not changed by opening it', onlyLong, async (t) => {
    const viewer = await service.signUp({ role: 'viewer', workspace, email: 'second-viewer@example.test' })
    const { id, blocks } = await make(ada, [h(2, 'README.md'), p('Water')])
    const reading = await WrittenPage.open(await person(viewer), { origin, id })
    await reading.state.getByText('Read only').waitFor()
    t.strictSame(await reading.blocks(), blocks)
    await reading.page.getByText('Water').click()
    const writing = await WrittenPage.open(adas, { origin, id })
    await writing.type({ block: 1 }, ' flows')
    const after = await untilAllSee(ada, id, [reading, writing])
    t.strictSame(after[0], blocks[0])
    await reading.state.getByText('Read only').waitFor()
    await writing.type({ block: 1 }, ' to example.com now')
    const typed = await untilAllSee(ada, id, [reading, writing])
    t.match(JSON.stringify(typed[1]), '"type":"link"', 'an address that is typed becomes a link')
    t.strictSame(typed[0], blocks[0])
    await Promise.all([reading.page.close(), writing.page.close()])
  })

  t.test('without scripts, and before the editor is there, the page shows the document', onlyLong, async (t) => {
    const { id } = await make(ada, [h(2, 'Water'), ul(p('from the river'))])
    const quiet = await signedInBrowser(browser, {
      service,
      userId: ada.user_id,
      options: { javaScriptEnabled: false },
    })
    const page = await quiet.context.newPage()
    await page.goto(`${origin}/d/${id}`)
    t.equal(await page.getByRole('heading', { name: 'Water' }).isVisible(), true)
    t.equal(await page.getByText('from the river').isVisible(), true)
    const { page: stranger } = { page: await (await person(await service.signUp())).context.newPage() }
    t.equal((await stranger.goto(`${origin}/d/${id}`))?.status(), 404)
    await Promise.all([page.close(), stranger.close()])
  })

  t.test('what is typed without a connection survives a reload, and is merged later', async (t) => {
    const { id, blocks } = await make(ada, [p('Water'), p('Food')])
    const one = await WrittenPage.open(adas, { origin, id })
    await one.type({ block: 0 }, ' before')
    await untilAllSee(ada, id, [one])
    await one.state.getByText('Saved').waitFor()
    service.collab().signal('SIGKILL')
    await service.collab().ended
    await one.state.getByText('Offline').waitFor()
    await one.type({ block: 0 }, ' and while it was away')
    await one.state.getByText('Your changes are kept on this device').waitFor()
    const elsewhere = await adas.context.newPage()
    await elsewhere.goto(`${origin}/account/tokens`)
    await elsewhere.getByRole('button', { name: 'Sign out' }).click()
    await elsewhere.getByRole('heading', { name: 'Sign out and lose what was not sent?' }).waitFor()
    t.equal(await elsewhere.getByRole('link', { name: 'Document' }).getAttribute('href'), `/d/${id}`)
    await elsewhere.close()
    // The storage of the browser is slow, and the page goes before the last letters are there.
    await one.page.evaluate(occupiedStorage)
    await one.type({ block: 0 }, ', to the last letter')
    await one.page.reload()
    await one.page.locator('.ProseMirror').waitFor()
    await one.state.getByText('Your changes are kept on this device').waitFor()
    const kept = 'Water before and while it was away, to the last letter'
    t.strictSame(texts(await one.blocks()), [kept, 'Food'])
    await one.type({ block: 1 }, ' too')
    await patch(ada, { id, block: blocks[1] }, 'Good Food')
    await service.restartCollab()
    const after = await untilAllSee(ada, id, [one])
    t.strictSame(texts(after), [kept, 'Good Food too'])
    t.strictSame(ids(after), ids(blocks))
    await one.state.getByText('Saved').waitFor()
    await one.page.close()
  })

  t.test(
    'text that cannot be sent is neither lost nor there twice after a restored backup or a deletion',
    onlyLong,
    async (t) => {
      const [restored, deleted] = [await make(ada, [p('Water'), p('Food')]), await make(ada, [p('Sleep')])]
      const pages = [
        await WrittenPage.open(adas, { origin, id: restored.id }),
        await WrittenPage.open(adas, { origin, id: deleted.id }),
      ]
      await Promise.all(pages.map((page) => page.state.getByText('Saved').waitFor()))
      service.collab().signal('SIGKILL')
      await service.collab().ended
      for (const page of pages) {
        await page.state.getByText('Offline').waitFor()
        await page.type({ block: 0 }, ' of elephants')
        await page.state.getByText('Your changes are kept on this device').waitFor()
      }
      // Somebody else signs in, in the same browser.
      const cookies = await adas.context.cookies()
      await adas.context.addCookies(await graces.context.cookies())
      const other = await WrittenPage.open(adas, { origin, id: (await make(grace, [p('Ears')])).id })
      await other.page.close()
      await adas.context.addCookies(cookies)
      for (const { page } of pages) {
        await page.reload()
        await page.getByText('of elephants').waitFor()
      }
      // A backup from before the document was first opened has no Y document of it.
      await service.database.query(sql.unsafe`DELETE FROM document_y_states WHERE document_id = ${restored.id}`)
      t.equal((await ada.delete(`/documents/${deleted.id}`)).status, 204)
      await service.restartCollab()
      const [anew, gone] = pages as [WrittenPage, WrittenPage]
      await anew.page.getByRole('alert').getByText('another state of this document').waitFor()
      t.match(await anew.page.getByRole('alert').textContent(), 'This text of yours was not saved: of elephants')
      t.strictSame(texts(await untilAllSee(ada, restored.id, [anew])), ['Water', 'Food'])
      await anew.type({ block: 1 }, ' of birds')
      t.strictSame(texts(await untilAllSee(ada, restored.id, [anew])), ['Water', 'Food of birds'])
      await gone.page.getByRole('alert').getByText('This document was deleted').waitFor()
      t.match(await gone.page.getByRole('alert').textContent(), 'This text of yours was not saved: of elephants')
      await Promise.all(pages.map(({ page }) => page.close()))
    },
  )

  t.test(
    'when the browser cannot keep what is typed, the page says so and does not call it kept',
    onlyLong,
    async (t) => {
      const { id } = await make(ada, [p('Water')])
      const one = await WrittenPage.open(adas, { origin, id })
      await one.state.getByText('Saved').waitFor()
      await one.page.evaluate(`{
      const { add } = IDBObjectStore.prototype
      IDBObjectStore.prototype.add = function (...values) {
        const request = add.apply(this, values)
        this.transaction.abort()
        return request
      }
    }`)
      await adas.context.setOffline(true)
      await one.state.getByText('Offline').waitFor()
      await one.type({ block: 0 }, ' flows')
      await one.state.getByText(/kept on this device|your changes are only here/).waitFor()
      t.match(await one.state.textContent(), 'Keep this page open: your changes are only here.')
      await adas.context.setOffline(false)
      t.strictSame(texts(await untilAllSee(ada, id, [one])), ['Water flows'])
      await one.state.getByText('Saved').waitFor()
      await one.page.close()
    },
  )

  t.test('what is typed after the browser has dropped its copy reaches the service', onlyLong, async (t) => {
    const { id } = await make(ada, [p('Water')])
    const one = await WrittenPage.open(adas, { origin, id })
    await one.state.getByText('Saved').waitFor()
    const other = await adas.context.newPage()
    await other.goto(`${origin}/account/tokens`)
    await other.evaluate(`indexedDB.databases().then((copies) => Promise.all(copies.map(({ name }) =>
      new Promise((resolve) => (indexedDB.deleteDatabase(name).onsuccess = resolve)))))`)
    await one.type({ block: 0 }, ' flows')
    t.strictSame(texts(await untilAllSee(ada, id, [one])), ['Water flows'])
    await one.state.getByText('Saved').waitFor()
    await Promise.all([one.page.close(), other.close()])
  })

  t.test('a document that is deleted closes its editor with a reason, and leaves no copy', async (t) => {
    const { id } = await make(ada, [p('Water')])
    const one = await WrittenPage.open(adas, { origin, id })
    await one.state.getByText('Saved').waitFor()
    t.equal((await ada.delete(`/documents/${id}`)).status, 204)
    await one.page.getByRole('alert').getByText('This document was deleted').waitFor()
    t.equal(await one.text.getAttribute('contenteditable'), 'false')
    const copies =
      'indexedDB.databases().then((all) => all.filter(({ name }) => name.includes(location.pathname.slice(3))))'
    await until(async () => ((await one.page.evaluate(copies)) as unknown[]).length === 0)
    await one.page.close()
  })

  t.test('a person who becomes a viewer, and a person who signs out, type nothing more', async (t) => {
    const { id } = await make(ada, [p('Water')])
    const hopper = await service.signUp({ workspace, email: 'hopper@example.test' })
    const someone = await person(hopper)
    const one = await WrittenPage.open(someone, { origin, id })
    await one.type({ block: 0 }, ' flows')
    await one.state.getByText('Saved').waitFor()
    await service.database.query(sql.unsafe`UPDATE memberships SET role = 'viewer' WHERE user_id = ${hopper.user_id}`)
    await one.state.getByText('Read only').waitFor()
    t.equal(await one.text.getAttribute('contenteditable'), 'false')
    await service.database.query(sql.unsafe`UPDATE memberships SET role = 'editor' WHERE user_id = ${hopper.user_id}`)
    await one.state.getByText('Saved').waitFor()
    t.equal(await one.text.getAttribute('contenteditable'), 'true')

    const other = await someone.context.newPage()
    await other.goto(`${origin}/account/tokens`)
    await one.type({ block: 0 }, ' fast')
    await other.getByRole('button', { name: 'Sign out' }).click()
    const alert = one.page.getByRole('alert')
    await alert.getByText('You are signed out').waitFor()
    t.notMatch(await alert.textContent(), 'not saved')
    t.equal(await one.text.getAttribute('contenteditable'), 'false')
    const copies = 'indexedDB.databases().then((all) => all.length)'
    await until(async () => (await other.evaluate(copies)) === 0)
    t.strictSame(texts((await bodyOf(ada, id)).blocks), ['Water flows fast'])
    t.strictSame(someone.incidents, [])
    await someone.context.close()
  })

  t.test('nothing went wrong in any page, and no page asked another host', async (t) => {
    const refused = /WebSocket connection to|ERR_CONNECTION_REFUSED/
    t.strictSame(
      incidents.flat().filter((incident) => !refused.test(incident)),
      [],
    )
  })
})

// Keeps a transaction of the copies of a page open, so that nothing else is written into them.
const occupiedStorage = `indexedDB.databases().then((copies) => Promise.all(copies.map(({ name }) => new Promise((resolve) => {
  indexedDB.open(name).onsuccess = ({ target: { result } }) => {
    const store = result.transaction('updates', 'readwrite').objectStore('updates')
    const again = () => {
      store.count().onsuccess = again
      resolve()
    }
    again()
  }
}))))`

// Waits until the API and all pages have the same blocks, and returns them.
async function untilAllSee(client: Client, id: string, pages: WrittenPage[]): Promise<BlockNode[]> {
  let blocks: BlockNode[] = []
  await until(async () => {
    const all = await Promise.all(pages.map((page) => page.blocks()))
    blocks = (await bodyOf(client, id)).blocks
    return all.every((one) => JSON.stringify(one) === JSON.stringify(blocks))
  })
  return blocks
}

async function patch(client: Client, { id, block }: { id: string; block: BlockNode | undefined }, words: string) {
  const reply = await client.patch(`/documents/${id}/blocks/${block?.attrs.id}`, { content: [text(words)] })
  if (reply.status !== 200) throw new Error(reply.text)
}

function ids(blocks: readonly BlockNode[]): string[] {
  return blocks.map(({ attrs }) => attrs.id)
}

function texts(blocks: readonly BodyNode[]): string[] {
  return blocks.map(plainText)
}

function withoutLastCharacter(block: BlockNode): BlockNode {
  const content = [...(block.content ?? [])]
  const last = content.pop()
  const rest = last?.text?.slice(0, -1) ?? ''
  return { ...block, content: last && rest ? [...content, { ...last, text: rest }] : content }
}
