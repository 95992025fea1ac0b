import type { BlockNode, BodyNode } from '../../../shared/body/document.ts'
import { normaliseDocument } from '../../../shared/body/normalise.ts'
import { plainText } from '../../../shared/body/text.ts'
import { freePort } from '../../../shared/start/processes.ts'
import { doc, h, node, p, text, ul } from '../../document/build.ts'
import { noChromium, startChromium } from '../../pages/browser/chromium.ts'
import { samples, uploaded } from '../../support/attachments.ts'
import type { Client } from '../../support/client.ts'
import { startCollab } from '../../support/collab.ts'
import { bodyOf, make, put, shape } from '../../support/documents.ts'
import { type EditorPage, editorPages } from '../../support/editor-page/open.ts'
import { everyNode } from '../../support/every-node.ts'
import { startTestService } from '../../support/service.ts'
import { until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

/*
 * Stock Tiptap editors in a browser, connected by the stock provider to a collaboration process.
 */

const workspace = 'Elephants'

t.test('stock editors in a browser', { skip: noChromium }, async (t) => {
  const service = await startTestService(t)
  const ada = await service.signUp({ workspace })
  const port = String(await freePort({ host: '127.0.0.1' }))
  const { DATABASE_URL, DATA_DIR } = service.config
  const env = { DATABASE_URL, DATA_DIR, COLLAB_PORT: port, LOG_LEVEL: 'warn' }
  let collab = await startCollab(env)
  t.teardown(() => collab.stop())
  const { open, incidents } = await editorPages(t, await startChromium(t))

  const edit = (id: string, client: Client = ada) => open({ url: collab.url, name: id, token: client.bearer ?? '' })

  t.test('what two people type and a program patches at once is all there, for everybody', async (t) => {
    const { id, blocks } = await make(ada, [p('An elephant drinks.'), p('It eats.'), p('It sleeps.'), p('It swims.')])
    const [first, second] = await Promise.all([edit(id), edit(id)])
    await Promise.all([
      first.type({ block: 0 }, ' A hundred'),
      second.type({ block: 1 }, ' Grass, and bark in the winter.'),
      patch(ada, { id, block: blocks[2] }, 'It sleeps three hours.'),
    ])
    await untilAllSee(ada, id, [first, second])
    await patch(ada, { id, block: blocks[0] }, 'The elephant drinks. A hundred')
    await untilAllSee(ada, id, [first, second])
    await first.type({ block: 0 }, ' litres a day.')
    const after = await untilAllSee(ada, id, [first, second])
    t.strictSame(texts(after), [
      'The elephant drinks. A hundred litres a day.',
      'It eats. Grass, and bark in the winter.',
      'It sleeps three hours.',
      'It swims.',
    ])
    t.strictSame(ids(after), ids(blocks), 'every block keeps its id')
  })

  t.test('the page says when the text is saved, under the version of the API', async (t) => {
    const { id, version } = await make(ada, [p('Water')])
    const editor = await edit(id)
    await editor.type({ block: 0 }, ' and milk')
    t.strictSame(texts(await untilAllSee(ada, id, [editor])), ['Water and milk'])
    const saved = (await bodyOf(ada, id)).version
    t.not(saved, version)
    await until(async () => {
      const message = (await editor.messages()).findLast(({ type }) => type === 'saved')
      return message?.['version'] === saved && message['complete'] === true
    })
  })

  t.test('Enter gives the second half an id of its own, and marks, lists and undo work', async (t) => {
    const { id, blocks } = await make(ada, [p('Elephants drink. They eat.'), p('Ferns')])
    const [first, second] = await Promise.all([edit(id), edit(id)])
    await first.type({ block: 0, offset: 16 }, '\n')
    const split = await untilAllSee(ada, id, [first, second])
    t.strictSame(texts(split), ['Elephants drink.', ' They eat.', 'Ferns'])
    t.strictSame([ids(split)[0], ids(split)[2]], ids(blocks))
    t.equal(new Set(ids(split)).size, 3)

    await first.select({ block: 2 })
    await first.page.keyboard.press('Control+b')
    await second.type({ block: 0 }, '\n- roots\nleaves')
    const written = await untilAllSee(ada, id, [first, second])
    const leaf = (words: string) => node('listItem', {}, p(words))
    const list = node('bulletList', {}, leaf('roots'), leaf('leaves'))
    const wanted = doc(p('Elephants drink.'), list, p(' They eat.'), p(text('Ferns', 'bold')))
    t.strictSame(shape(written), shape(wanted.content))
    t.strictSame([ids(written)[0], ids(written)[2], ids(written)[3]], ids(split))

    await first.page.keyboard.press('Control+z')
    const undone = await untilAllSee(ada, id, [first, second])
    t.strictSame(
      shape(undone),
      shape([...written.slice(0, 3), ...doc(p('Ferns')).content]),
      'only what the first person did is undone',
    )
  })

  t.test('an editor changes nothing but what is typed, whatever the document contains', async (t) => {
    const { id } = await make(ada, [p('x')])
    const attachmentId = await uploaded(ada, { documentId: id, bytes: samples.png })
    await put(ada, id, everyNode({ attachmentId, documentId: id }))
    const { blocks } = await bodyOf(ada, id)
    const editor = await edit(id)
    const typed = blocks.flatMap(({ type }, block) =>
      ['paragraph', 'heading', 'codeBlock'].includes(type) ? [block] : [],
    )
    for (const block of typed) await editor.type({ block }, '!')
    const after = await untilAllSee(ada, id, [editor])
    const back = after.map((block, index) => (typed.includes(index) ? withoutLastCharacter(block) : block))
    t.strictSame(back, blocks)
    t.ok(typed.length > 10)
  })

  t.test('a token that may only read shows the document, and nothing that its holder types goes further', async (t) => {
    const { id } = await make(ada, [p('Water')])
    const reader = await service.signUp({ role: 'viewer', workspace, scopes: 'read_only' })
    const [reading, writing] = await Promise.all([edit(id, reader), edit(id)])
    t.equal(await reading.page.evaluate('provider.authorizedScope'), 'readonly')
    t.equal(await writing.page.evaluate('provider.authorizedScope'), 'read-write')
    await reading.type({ block: 0 }, ' and poison')
    await writing.type({ block: 0, offset: 0 }, 'Clean ')
    t.strictSame(texts(await untilAllSee(ada, id, [writing])), ['Clean Water'])
  })

  t.test('a page that was left without its server goes on by itself, and a reload shows the same', async (t) => {
    const { id, blocks } = await make(ada, [p('Water'), h(2, 'Food'), ul(p('grass'))])
    const [first, second] = await Promise.all([edit(id), edit(id)])
    await first.type({ block: 0 }, ' before')
    collab.signal('SIGKILL')
    await collab.ended
    await first.type({ block: 0 }, ' and while it was away')
    await second.type({ block: 1 }, ' of elephants')
    await patch(ada, { id, block: blocks[1] }, 'Good Food')
    collab = await startCollab(env)
    const after = await untilAllSee(ada, id, [first, second])
    t.strictSame(texts(after), ['Water before and while it was away', 'Good Food of elephants', 'grass'])
    t.strictSame(ids(after), ids(blocks))
    await first.page.close()
    t.strictSame(await shown(await edit(id)), after)
  })

  t.test('nothing went wrong in any page, and no page asked another host', async (t) => {
    const refused = /WebSocket connection to|ERR_CONNECTION_REFUSED/
    t.strictSame(
      incidents.filter((incident) => !refused.test(incident)),
      [],
    )
  })
})

// Waits until the API and all pages have the same blocks, and returns them.
async function untilAllSee(client: Client, id: string, pages: EditorPage[]): Promise<BlockNode[]> {
  let blocks: BlockNode[] = []
  await until(async () => {
    const all = await Promise.all(pages.map(shown))
    blocks = (await bodyOf(client, id)).blocks
    return all.every((one) => JSON.stringify(one) === JSON.stringify(blocks))
  })
  return blocks
}

// The blocks that a page shows, in normal form. A split block has the id of the other half until the server repairs it.
async function shown({ json }: EditorPage): Promise<BlockNode[]> {
  const content = await json()
  const all = JSON.stringify(content).match(/"id":"block_\w+"/g) ?? []
  return new Set(all).size === all.length
    ? normaliseDocument({ type: 'doc', content }, { from: 'json' }).result.content
    : []
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
