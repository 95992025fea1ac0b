import type { BlockNode, BodyNode } from '../../shared/body/document.ts'
import type { Site } from '../support/site.ts'
import { alternate, type Figure, ms, processorTime } from './harness.ts'

const size = 10_000
const rounds = 5
const count = 4

// The highest allowed times of differences, as multiples of reading both bodies. A read sends stored text, and only
// blocks that differ are parsed. Where every block differs, 20,000 blocks are parsed and their words compared. The
// answer is then almost three times as long as both bodies.
const bars = { 'one block in eight': 2, 'every block': 8 }

/**
 * Measures differences of two bodies of 10,000 blocks beside reading both of these bodies. In the second body, a tenth
 * of the blocks is edited, and a hundredth each is new, gone and moved. In the third body, every block is rewritten.
 * The time is from the request to the last byte of the answer.
 */
export async function measureDifferences(site: Site): Promise<Figure[]> {
  const path = await compared(site)
  // Real changes would push the compared versions out of the history, so they need their own document.
  const other = await compared(site)
  const read = async (...paths: string[]) => {
    for (const name of paths) await received(site, path + name)
  }
  const sides = {
    'reading both': () => read('/versions/1/content', '/versions/2/content'),
    'reading both as Markdown': () =>
      read('/versions/1/content?format=markdown', '/versions/2/content?format=markdown'),
    'one block in eight differs': () => read('/diff?from=1&to=2'),
    'one block in eight differs, as Markdown': () => read('/diff?from=1&to=2&format=markdown'),
    'every block differs': () => read('/diff?from=1&to=3'),
    'a rehearsed change of one block': () => change(site, `${other}/blocks?dry_run=true`),
    'the change of one block': () => change(site, `${other}/blocks`),
  }
  const measured = (work: () => Promise<void>) => () => meanTime(work)
  const times = await alternate(rounds, mapped(sides, measured))
  const processor = await alternate(
    rounds,
    mapped(sides, (work) => () => meanProcessorTime(site, work)),
  )
  return Object.keys(sides).map((name) => {
    const key = name as keyof typeof sides
    const reading = name.endsWith('Markdown') ? 'reading both as Markdown' : 'reading both'
    const value = `${ms(times[key])}, ${ms(processor[key])} CPU`
    const figure = { name: `diff, ${size} blocks: ${name}`, value }
    if (name.startsWith('reading') || name.includes('change')) return figure
    const ratio = times[key] / times[reading]
    const bar = bars[name.startsWith('every') ? 'every block' : 'one block in eight']
    const shown = { ...figure, value: `${value}, ${ratio.toFixed(2)} × ${reading}` }
    return { ...shown, bar: `at most ${bar} ×`, met: ratio <= bar }
  })
}

/** Makes a document with three versions. Returns its path. */
async function compared(site: Site): Promise<string> {
  const first = Array.from({ length: size }, (_, index) => block(`Paragraph ${index} with`))
  const made = await site.client.post('/documents', {
    title: 'Compared',
    knowledge_base_id: site.knowledgeBase,
    content: { format: 'tiptap-json', document: { type: 'doc', content: first } },
  })
  const path = `/documents/${made.body.data.id}`
  const { document } = (await site.client.get(`${path}/content`)).body.data
  const blocks = document.content as BlockNode[]
  const edited = blocks.flatMap((node, index): BodyNode[] => {
    if (index % 100 === 1) return []
    if (index % 100 === 2) return [node, block(`New ${index} with`)]
    return index % 10 === 0 ? [{ ...node, content: block(`Paragraph ${index} has`).content ?? [] }] : [node]
  })
  const moved = edited.filter((_, index) => index % 100 === 55)
  const second = [...moved, ...edited.filter((_, index) => index % 100 !== 55)]
  const third = blocks.map((node, index) => ({ ...node, content: block(`Rewritten ${index * 7} to`).content ?? [] }))
  for (const content of [second, third, blocks]) {
    const body = { format: 'tiptap-json', document: { type: 'doc', content } }
    const { status, text } = await site.client.put(`${path}/content`, body, { 'if-match': '*' })
    if (status !== 200) throw new Error(`${status} ${text.slice(0, 500)}`)
  }
  return path
}

function block(start: string): BodyNode {
  const bold = { type: 'text', text: 'bold', marks: [{ type: 'bold' }] }
  return { type: 'paragraph', content: [{ type: 'text', text: `${start} ` }, bold, { type: 'text', text: ' words.' }] }
}

async function received(site: Site, path: string): Promise<void> {
  const { origin, bearer } = site.client
  const response = await fetch(`${origin}/api/v1${path}`, { headers: { authorization: `Bearer ${bearer}` } })
  const bytes = await response.bytes()
  if (response.status !== 200) throw new Error(`${response.status} ${Buffer.from(bytes).toString()}`)
}

let turn = 0

async function change(site: Site, path: string): Promise<void> {
  turn += 1
  const nodes = [block(`Turn ${turn} of`)]
  const reply = await site.client.post(path, { position: { document_start: true }, nodes })
  if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
}

async function meanTime(work: () => Promise<void>): Promise<number> {
  const started = performance.now()
  for (let time = 0; time < count; time += 1) await work()
  return (performance.now() - started) / count
}

async function meanProcessorTime(site: Site, work: () => Promise<void>): Promise<number> {
  const before = await processorTime(site.client)
  for (let time = 0; time < count; time += 1) await work()
  return ((await processorTime(site.client)) - before) / count
}

function mapped<Name extends string, From, To>(values: Record<Name, From>, map: (value: From) => To) {
  return Object.fromEntries(Object.entries<From>(values).map(([name, value]) => [name, map(value)])) as Record<Name, To>
}
