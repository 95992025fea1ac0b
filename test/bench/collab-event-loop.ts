import type { Site } from '../support/site.ts'
import {
  type CollabPart,
  createParagraphs,
  type EditorServer,
  startBrowsers,
  startEditorServer,
} from './collab-sides.ts'
import { type Figure, ms } from './harness.ts'

const documents = 3
const longest = 50

/**
 * Measures for how long the event loop of a server is blocked at most while large documents are opened, typed in,
 * replaced over the API, and closed. Then nobody else's keystroke moves on.
 */
export async function measureEventLoop(site: Site, { t, sizes }: CollabPart): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const size of sizes) {
    for (const kind of ['collab', 'bare'] as const) {
      const server = await startEditorServer(t, { site, kind })
      for (const [what, block] of Object.entries(await blocksOf(site, { t, server, size, kind }))) {
        const name = `longest block of the event loop, ${documents} times ${size} blocks ${what}`
        figures.push({
          name: kind === 'bare' ? `${name}, bare Hocuspocus` : name,
          value: ms(block),
          ...(kind === 'collab' && { bar: `at most ${longest} ms`, met: block <= longest }),
        })
      }
      await server.stop()
    }
  }
  return figures
}

type Subject = { t: CollabPart['t']; server: EditorServer; size: number; kind: 'collab' | 'bare' }

async function blocksOf(site: Site, { t, server, size, kind }: Subject): Promise<Record<string, number>> {
  const browsers = startBrowsers(t)
  const token = site.client.bearer ?? ''
  const made = await Promise.all(Array.from({ length: documents }, () => createParagraphs(site, size)))
  const addresses = made.map(({ id }) => ({ url: server.url, name: id, token }))
  const longestIn = async (work: () => Promise<unknown>) => {
    await server.probe()
    await work()
    return (await server.probe()).longestBlock
  }
  const blocks: Record<string, number> = {}
  blocks['opened for the first time'] = await longestIn(() => browsers('open', { addresses, together: documents }))
  blocks['opened by a second browser'] = await longestIn(() => browsers('open', { addresses, together: 1 }))
  const typed = (index: number) =>
    browsers('type', { client: index, watcher: documents + index, blocks: [5, size - 5], words: 100, pause: 50 })
  blocks['typed in'] = await longestIn(() => Promise.all(made.map((_, index) => typed(index))))
  if (kind === 'collab') {
    blocks['replaced by PUT'] = await longestIn(() => Promise.all(made.map((_, index) => replace(index))))
  }
  const clients = Array.from({ length: 2 * documents }, (_, index) => index)
  blocks['closed'] = await longestIn(() => browsers('close', { clients }))
  return blocks

  async function replace(index: number): Promise<void> {
    const word = `replaced${index}r`
    const content = Array.from({ length: size }, (_, n) => ({
      type: 'paragraph',
      content: [{ type: 'text', text: `${word} ${n} by other words` }],
    }))
    const seen = browsers('watch', { client: index, text: `${word} ${size - 1} ` })
    const body = { format: 'tiptap-json', document: { type: 'doc', content } }
    const { status, text } = await site.client.put(`/documents/${made[index]?.id}/content`, body, { 'if-match': '*' })
    if (status !== 200) throw new Error(`${status} ${text}`)
    await seen
  }
}
