import type { BodyNode } from '../../../../shared/body/document.ts'
import { doc, h, node, p, text, ul } from '../../../document/build.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { samples } from '../../../support/attachments.ts'
import { bodyOf, make, shape } from '../../../support/documents.ts'
import { until } from '../../../support/site.ts'
import { type Test, t } from '../../../support/tap.ts'
import { signedInBrowser, startWrittenService, WrittenPage } from '../../../support/written-page.ts'

/*
 * What a person puts into a document from elsewhere: Markdown, HTML of other programs, pictures, formulas.
 */

/** What is on the clipboard. The bytes of the file are in Base64. */
type Clipboard = { [type: string]: string } & { file?: string }

t.test('what comes from elsewhere', { skip: noChromium }, async (t) => {
  const service = await startWrittenService(t)
  const { origin } = service
  const ada = await service.signUp({ email: 'ada@example.test' })
  const reader = await signedInBrowser(await startChromium(t), { service, userId: ada.user_id })

  async function edit(blocks: BodyNode[]) {
    const { id } = await make(ada, blocks)
    const one = await WrittenPage.open(reader, { origin, id })
    await one.state.getByText('Saved').waitFor()
    const stored = async () => (await bodyOf(ada, id)).blocks
    async function stores(t: Test, wanted: BodyNode[]): Promise<void> {
      const expected = JSON.stringify(shape(doc(...wanted).content))
      const limit = Date.now() + 20_000
      await until(async () => JSON.stringify(shape(await stored())) === expected || Date.now() > limit)
      t.strictSame(shape(await stored()), shape(doc(...wanted).content))
      await one.page.close()
    }
    /** Pastes at the end of the first block. The file comes so many times. */
    async function paste(clipboard: Clipboard, { times = 1 }: { times?: number } = {}): Promise<void> {
      await one.place({ block: 0 })
      await one.page.evaluate(`{
        const { file, ...texts } = ${JSON.stringify(clipboard)}
        const data = new DataTransfer()
        for (const [type, content] of Object.entries(texts)) data.setData(type, content)
        const bytes = () => Uint8Array.from(atob(file), (one) => one.charCodeAt(0))
        for (let count = 0; file && count < ${times}; count += 1)
          data.items.add(new File([bytes()], 'trunk.png', { type: 'image/png' }))
        const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
        document.querySelector('.ProseMirror').dispatchEvent(event)
      }`)
    }
    /** Holds the answers to what the page asks at such addresses, until the returned function is called. */
    async function hold(addresses: RegExp): Promise<() => void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      await one.page.route(addresses, (route) => promise.then(() => route.continue()))
      return resolve
    }
    return { id, one, stored, stores, paste, hold }
  }

  t.test('Markdown becomes the blocks that the API makes of it, and other text stays text', async (t) => {
    const { stores, paste, one } = await edit([node('paragraph')])
    await paste({ 'text/plain': 'An ordinary sentence - with a dash.' })
    await one.page.keyboard.press('Enter')
    await one.page.evaluate(`{
      const data = new DataTransfer()
      data.setData('text/plain', '## Water\\n\\nIt drinks **much**.\\n\\n- [x] fill\\n\\n> [!TIP]\\n> Wait')
      const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })
      document.querySelector('.ProseMirror').dispatchEvent(event)
    }`)
    await stores(t, [
      p('An ordinary sentence - with a dash.'),
      h(2, 'Water'),
      p(text('It drinks '), text('much', 'bold'), text('.')),
      node('taskList', {}, node('taskItem', { checked: true }, p('fill'))),
      node('callout', { kind: 'tip' }, p('Wait')),
    ])
  })

  t.test('HTML of a word processor keeps its structure, and nothing else', async (t) => {
    const { stores, paste } = await edit([node('paragraph')])
    const html = `<html><head><style>p.MsoNormal {color: red}</style></head><body>
      <h1 style='mso-style-name:"x"'>Water</h1>
      <p class=MsoNormal><span style='color:red'>It <b>drinks</b></span><o:p></o:p> <a href="javascript:alert(1)">much</a></p>
      <ul><li>grass</li></ul><ol start=3><li>bark</li></ol>
      <table><tr><th>Age</th></tr><tr><td>30</td></tr></table>
      <img src="https://elsewhere.example/x.png" onerror="alert(1)"><script>alert(1)</script></body></html>`
    await paste({ 'text/html': html, 'text/plain': 'Water' })
    const row = (type: string, words: string) => node('tableRow', {}, node(type, {}, p(words)))
    await stores(t, [
      h(1, 'Water'),
      p(text('It '), text('drinks', 'bold'), text(' much')),
      ul(p('grass')),
      node('orderedList', { start: 3 }, node('listItem', {}, p('bark'))),
      node('table', {}, row('tableHeader', 'Age'), row('tableCell', '30')),
    ])
  })

  t.test('a picture is stored by the service and shown, and a file of no use is refused in words', async (t) => {
    const { id, one, stored, paste } = await edit([p('A trunk')])
    await paste({ file: samples.png.toString('base64') })
    await one.page.locator('.ProseMirror .picture img').waitFor()
    const width = 'document.querySelector(".ProseMirror .picture img")?.naturalWidth ?? 0'
    await until(async () => Number(await one.page.evaluate(width)) > 0)
    await until(async () => (await stored()).some(({ type }) => type === 'image'))
    const image = (await stored()).find(({ type }) => type === 'image')
    t.match(image?.attrs, { alt: 'trunk.png', attachmentId: /^att_/ })
    const { data } = (await ada.get(`/audit?document_id=${id}&action=createAttachment`)).body
    t.match(data, [{ user_id: ada.user_id }])
    await paste({ file: Buffer.from('no picture').toString('base64') })
    await one.page.getByRole('alert').getByText('files of this type are not accepted').waitFor()
    await one.page.close()
  })

  t.test('several pictures stay, and so does what is selected when they come or typed behind them', async (t) => {
    const file = samples.png.toString('base64')
    async function has(t: Test, stored: () => Promise<BodyNode[]>, wanted: BodyNode[]): Promise<void> {
      const outline = async () => (await stored()).map(({ type, content }) => [type, content?.[0]?.text])
      const expected = wanted.map(({ type, content }) => [type, content?.[0]?.text])
      const limit = Date.now() + 20_000
      await until(async () => JSON.stringify(await outline()) === JSON.stringify(expected) || Date.now() > limit)
      t.strictSame(await outline(), expected)
    }
    const [trunk, ferns, image] = [p('A trunk'), p('Ferns'), node('image')]
    const late = await edit([trunk, ferns])
    const release = await late.hold(/attachments/)
    await late.paste({ file }, { times: 2 })
    await late.one.select({ block: 1 })
    release()
    await has(t, late.stored, [trunk, image, image, ferns])
    await late.one.page.close()
    const { one, stored, paste } = await edit([trunk])
    await paste({ file }, { times: 2 })
    await has(t, stored, [trunk, image, image, node('paragraph')])
    await one.page.keyboard.type('and an ear')
    await has(t, stored, [trunk, image, image, p('and an ear')])
    await one.page.close()
  })

  t.test('Markdown that comes late stands where it was pasted, and replaces nothing', async (t) => {
    const { one, paste, stores, hold } = await edit([node('paragraph'), p('Ferns')])
    const release = await hold(/markdown/)
    await paste({ 'text/plain': '## Water' })
    await one.page.keyboard.type('is deep')
    await one.select({ block: 1 })
    release()
    await stores(t, [h(2, 'Water'), p('is deep'), p('Ferns')])
  })

  t.test('pasted Markdown is there as text when the service never answers', async (t) => {
    const { paste, stores, hold } = await edit([p('Ferns: ')])
    const release = await hold(/markdown/)
    await paste({ 'text/plain': '- one\n- two' })
    await stores(t, [p('Ferns: - one'), p('- two')])
    release()
  })

  t.test('a formula is shown as MathML, and written anew in a dialog', async (t) => {
    const { one, stores } = await edit([p('Volume'), node('blockMath', { latex: 'x^2' })])
    await one.page.locator('.ProseMirror math msup').waitFor()
    await one.page.locator('.ProseMirror [data-latex]').dblclick()
    await one.page.getByRole('textbox', { name: 'LaTeX' }).fill('\\frac{1}{2}')
    await one.page.getByRole('button', { name: 'Change' }).click()
    await one.page.locator('.ProseMirror math mfrac').waitFor()
    await stores(t, [p('Volume'), node('blockMath', { latex: '\\frac{1}{2}' })])
  })

  t.test('a dialog does not overwrite what somebody else has changed meanwhile', async (t) => {
    const { one, stores } = await edit([p('Volume'), node('blockMath', { latex: 'x^2' })])
    await one.page.locator('.ProseMirror [data-latex]').dblclick()
    await one.page.getByRole('textbox', { name: 'LaTeX' }).fill('mine')
    await one.page.evaluate(`{
      const { state, view } = document.querySelector('.ProseMirror').editor
      view.dispatch(state.tr.setNodeAttribute(state.doc.firstChild.nodeSize, 'latex', 'theirs'))
    }`)
    await one.page.getByRole('button', { name: 'Change' }).click()
    await one.page.getByRole('alert').getByText('mine').waitFor()
    await stores(t, [p('Volume'), node('blockMath', { latex: 'theirs' })])
  })

  t.test('nothing went wrong in any page, and no page asked another host', async (t) => {
    // The policy refuses the styles and the scripts of the pasted HTML while ProseMirror reads it.
    const refused = /^policy (style-src-attr|style-src-elem|script-src-attr) inline/
    t.strictSame(
      reader.incidents.filter((incident) => !refused.test(incident)),
      [],
    )
  })
})
