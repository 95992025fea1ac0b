import type { BodyNode } from '../../../../shared/body/document.ts'
import { attacks, doorsFor, hostileAddresses, markdownFor } from '../../../document/attacks.ts'
import { node, p, text } from '../../../document/build.ts'
import { type Incidents, noChromium, openWatchedPage, startChromium } from '../../../pages/browser/chromium.ts'
import type { Client } from '../../../support/client.ts'
import { sharedService } from '../../../support/service.ts'
import { t } from '../../../support/tap.ts'

/*
 * The HTML of the service in a browser that runs scripts and has no policy to help. The HTML may request only images,
 * from addresses that the schema of bodies allows, because images must be loaded.
 */
t.test('no attack runs a script or makes a request in a browser', { skip: noChromium }, async (t) => {
  const writer = await startWriter()
  const { show } = await openWatchedPage(await startChromium(t))
  t.match(await show('<img src=x onerror=alert(1)><link rel=stylesheet href=//x/y>'), {
    ran: ['1', '1'],
    requests: ['image http://documents.test/x', 'stylesheet http://x/y'],
  })
  t.ok(attacks.length >= 150)
  for (let first = 0; first < attacks.length; first += together) {
    const pages = await Promise.all(attacks.slice(first, first + together).map((attack) => pageOf(writer, attack)))
    if (isQuiet(await show(pages.join('\n')))) continue
    for (const page of pages) {
      const incidents = await show(page)
      if (!isQuiet(incidents)) t.fail(`${JSON.stringify(incidents)} from ${page}`)
    }
    t.fail(`one of ${attacks.slice(first, first + together).join('\n')}`)
  }
})

t.test('no hostile address stays a link or an image', { skip: noChromium }, async (t) => {
  const writer = await startWriter()
  const { page, show } = await openWatchedPage(await startChromium(t))
  const linked = hostileAddresses.map((href) => p(text('x', { type: 'link', attrs: { href } })))
  const html = await writer.render({ format: 'tiptap-json', document: { type: 'doc', content: linked } })
  const lines = hostileAddresses.map((address) => `[x](<${address.replace(/[\n\r]/g, '')}>)`)
  const markdown = await writer.render({ format: 'markdown', content: lines.join('\n\n') })
  t.strictSame(await show(`${html}\n${markdown}`), { ran: [], requests: [] })
  const protocols: string[] = await page.evaluate('Array.from(document.links, (link) => link.protocol)')
  t.strictSame(
    protocols.filter((protocol) => !/^(https?|mailto|tel|svc):$/.test(protocol)),
    [],
  )
  for (const src of hostileAddresses) {
    const reply = await writer.write({
      format: 'tiptap-json',
      document: { type: 'doc', content: [node('image', { src })] },
    })
    if (reply.status !== 422) t.fail(`${JSON.stringify(src)} gave ${reply.status}`)
  }
})

// Attacks are shown several to a page. One page for each attack would take half a minute.
const together = 10

async function pageOf(writer: Awaited<ReturnType<typeof startWriter>>, attack: string): Promise<string> {
  const html = await writer.render({ format: 'tiptap-json', document: { type: 'doc', content: doorsFor(attack) } })
  return `${html}\n${await writer.render({ format: 'markdown', content: markdownFor(attack) })}`
}

type Input =
  | { format: 'markdown'; content: string }
  | { format: 'tiptap-json'; document: { type: 'doc'; content: BodyNode[] } }

async function startWriter() {
  const client: Client = await (await sharedService()).signUp()
  const knowledgeBase = (await client.post('/knowledge-bases', { name: 'Attacks' })).body.data.id
  const write = (content: object) =>
    client.post('/documents', { title: 'Attack', knowledge_base_id: knowledgeBase, content })

  /** The HTML that the service renders from a body that was sent over HTTP. */
  async function render(content: Input): Promise<string> {
    const created = await write(content)
    if (created.status !== 201) throw new Error(`${created.status} ${created.text}`)
    const { body } = await client.get(`/documents/${created.body.data.id}/content?format=html`)
    return body.data.content
  }

  return { write, render }
}

function isQuiet({ ran, requests }: Incidents): boolean {
  return ran.length === 0 && requests.every((request) => /^image https?:/.test(request))
}
