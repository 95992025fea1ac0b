import type { BlockNode, BodyNode, DocNode } from '../../shared/body/document.ts'
import type { Reply } from '../support/client.ts'
import type { Site } from '../support/site.ts'
import { Baselines } from './body-baselines.ts'
import { alternate, type Figure, ms, processorTime } from './harness.ts'

const sizes = [100, 1000, 10_000] as const
// The number of requests of a kind in a round. A small number would include the garbage collection of earlier requests.
// Only writes of Markdown have a small number, since they take seconds at 10,000 blocks.
const count = 20
const countOfMarkdownWrites = { 100: 20, 1000: 5, 10000: 2 } as const
const rounds = 5

/**
 * Measures the cost of one request to the API process at 100, 1,000 and 10,000 blocks. The baselines are a naive
 * service (parse the whole body, change it, write it as jsonb) and bare `pg` (read and write the same bytes). All
 * figures are processor time of the process itself, without PostgreSQL's.
 */
export async function measureBodies(site: Site): Promise<Figure[]> {
  const bySize: Record<string, number>[] = []
  const baselines = await Baselines.open(site.url)
  try {
    for (const size of sizes) {
      const subject = await Subject.create(site, size)
      await baselines.fill(subject.document)
      const all = sides(subject, baselines, countOfMarkdownWrites[size])
      if (size === sizes[0]) await alternate(5, all)
      bySize.push(await alternate(rounds, all))
    }
  } finally {
    await baselines.end()
  }
  return Object.keys(bySize[0] ?? {}).map((name) =>
    figure(
      name,
      bySize.map((values) => values[name] ?? Number.NaN),
    ),
  )
}

type Sides = Record<string, () => Promise<number>>

function sides(subject: Subject, baselines: Baselines, markdownWrites: number): Sides {
  const served = (request: () => Promise<Reply>) => () => subject.serverTime(count, request)
  const written = (request: () => Promise<Reply>) => () => subject.serverTime(markdownWrites, request)
  return {
    [patch]: served(() => subject.patch()),
    'naive: parse, change and store jsonb': () => baselines.naive(count),
    'bare pg: read and store the same text': () => baselines.bare(count),
    'batch of 100 changes': served(() => subject.batch()),
    'PUT tiptap-json': served(() => subject.putJson()),
    'PUT Markdown without anchors': written(() => subject.putMarkdown()),
    'PUT anchored Markdown with one change': written(() => subject.writeBack()),
    'GET tiptap-json': served(() => subject.get('content')),
    'GET Markdown': served(() => subject.get('content?format=markdown')),
    'GET HTML': served(() => subject.get('content?format=html')),
    'GET read, 4,000 tokens around a block': served(() => subject.get(`read?around=${subject.middle}`)),
    'GET outline': served(() => subject.get('outline')),
  }
}

const patch = 'PATCH of one block'

function figure(name: string, values: number[]): Figure {
  const growth = values.slice(1).map((value, index) => `×${(value / (values[index] ?? Number.NaN)).toFixed(1)}`)
  const value = `${values.map(ms).join(' / ')} (${growth.join(', ')})`
  const [, thousand = Number.NaN, tenThousand = Number.NaN] = values
  const shown = { name: `${name}, CPU at ${sizes.join(' / ')} blocks`, value }
  if (name !== patch) return shown
  return { ...shown, bar: 'under 5 ms at 1,000, 30 ms at 10,000', met: thousand < 5 && tenThousand < 30 }
}

/** A document of a given number of blocks, and the requests that are measured on it. */
class Subject {
  readonly #site: Site
  readonly #path: string
  readonly #other: string
  readonly #markdown: string
  readonly document: DocNode
  #anchored = ''
  #turn = 0

  constructor(site: Site, made: { path: string; other: string; document: DocNode; markdown: string }) {
    this.#site = site
    this.#path = made.path
    this.#other = made.other
    this.#markdown = made.markdown
    this.document = made.document
  }

  static async create(site: Site, size: number): Promise<Subject> {
    const content = { format: 'tiptap-json', document: { type: 'doc', content: blocks(size) } }
    const post = async () => {
      const body = { title: `${size} blocks`, knowledge_base_id: site.knowledgeBase, content }
      return `/documents/${(await site.client.post('/documents', body)).body.data.id}`
    }
    const path = await post()
    const { document } = (await site.client.get(`${path}/content`)).body.data
    const { content: markdown } = (await site.client.get(`${path}/content?format=markdown`)).body.data
    return new Subject(site, { path, other: await post(), document, markdown })
  }

  /** A block in the middle of the document. */
  get middle(): string {
    return this.#block(this.document.content.length / 2).attrs.id
  }

  /**
   * The API's processor time for one request in milliseconds: the mean of `count` requests after one for warming up.
   */
  async serverTime(count: number, request: () => Promise<Reply>): Promise<number> {
    let before = 0
    for (let index = -1; index < count; index += 1) {
      if (index === 0) before = await processorTime(this.#site.client)
      const { status, text } = await request()
      if (status !== 200) throw new Error(`${status} ${text.slice(0, 500)}`)
    }
    return ((await processorTime(this.#site.client)) - before) / count
  }

  patch(): Promise<Reply> {
    this.#turn += 1
    const { attrs } = this.#block(this.#turn * 37)
    return this.#site.client.patch(`${this.#path}/blocks/${attrs.id}`, { content: [text(`turn ${this.#turn}`)] })
  }

  batch(): Promise<Reply> {
    this.#turn += 1
    const operations = Array.from({ length: 100 }, (_, index) => {
      const block = this.#block(this.#turn + index * 7)
      return { op: 'replace', block_id: block.attrs.id, node: { ...block, content: [text(`turn ${this.#turn}`)] } }
    })
    return this.#site.client.post(`${this.#path}/batch`, { operations })
  }

  putJson(): Promise<Reply> {
    this.#turn += 1
    const index = this.#turn % this.document.content.length
    const block = { ...this.#block(index), content: [text(`turn ${this.#turn}`)] }
    const document = { type: 'doc', content: this.document.content.with(index, block) }
    return this.#put(this.#path, { format: 'tiptap-json', document })
  }

  /** Replaces every block by a new block, so it needs its own document. */
  putMarkdown(): Promise<Reply> {
    return this.#put(this.#other, { format: 'markdown', content: this.#markdown })
  }

  /** Writes like an agent: it reads annotated Markdown once, then writes it back with one change at a time. */
  async writeBack(): Promise<Reply> {
    this.#turn += 1
    if (this.#anchored === '') {
      this.#anchored = (await this.get('content?format=markdown&annotate=anchors')).body.data.content
    }
    const content = this.#anchored.replace(/^Paragraph 3 .*$/m, `Paragraph 3 turn ${this.#turn}`)
    return await this.#put(this.#path, { format: 'markdown', content })
  }

  get(what: string): Promise<Reply> {
    return this.#site.client.get(`${this.#path}/${what}`)
  }

  #put(path: string, content: object): Promise<Reply> {
    return this.#site.client.put(`${path}/content`, content, { 'if-match': '*' })
  }

  #block(index: number): BlockNode {
    return this.document.content[index % this.document.content.length] as BlockNode
  }
}

// One heading for nine paragraphs. They are short, so that 10,000 blocks stay within the limit on characters.
function blocks(size: number): BodyNode[] {
  return Array.from({ length: size }, (_, index) =>
    index % 10 === 0
      ? { type: 'heading', attrs: { level: 2 }, content: [text(`Heading ${index}`)] }
      : { type: 'paragraph', content: [text(`Paragraph ${index} with `), text('bold', 'bold'), text(' words in it.')] },
  )
}

function text(value: string, ...marks: string[]): BodyNode {
  return { type: 'text', text: value, ...(marks.length > 0 && { marks: marks.map((type) => ({ type })) }) }
}
