import * as Y from 'yjs'
import { documentToLines, linesToDocument } from '../../shared/body/canonical.ts'
import { changeBody } from '../../shared/body/change.ts'
import type { BlockNode, BodyNode, DocNode } from '../../shared/body/document.ts'
import { normaliseDocument } from '../../shared/body/normalise.ts'
import { cutUpdates } from '../../shared/body/yjs/cut-updates.ts'
import { bodyFragment, readDocument } from '../../shared/body/yjs/encoding.ts'
import { FollowingBody } from '../../shared/body/yjs/following-body.ts'
import { repairDocument } from '../../shared/body/yjs/repair.ts'
import { deriveState, followInto, openState } from '../../shared/body/yjs/state.ts'
import { atOnce, inSlices } from '../../shared/computations/slices.ts'
import { newId } from '../../shared/schema/ids.ts'
import { alternate, type Figure, ms } from './harness.ts'

const sizes = [1000, 10_000] as const
const rounds = 5
// The bars are processor time on an idle machine at 1,000 and 10,000 blocks.
const bars: Record<string, readonly [number, number]> = { flush: [0.65, 6], follow: [0.5, 4] }

/**
 * Measures the pure part of a flush and of catching up, at 1,000 and 10,000 top-level blocks with 1.9 block ids each,
 * beside the way that opens, reads, repairs, normalises and compares the whole document. The figures are processor time
 * of this process, and the longest stretch without a turn of the event loop.
 */
export async function measureCollabFlush(): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const [index, size] of sizes.entries()) {
    const subject = new Subject(size)
    const sides = {
      flush: () => processorTime(20, () => subject.flush()),
      'flush of the whole document': () => processorTime(1, () => subject.wholeFlush()),
      follow: () => processorTime(20, () => subject.follow()),
      'follow of the whole document': () => processorTime(1, () => subject.wholeFollow()),
    }
    // The first rounds warm up.
    if (index === 0) await alternate(rounds, sides)
    const medians = await alternate(rounds, sides)
    for (const name of ['flush', 'follow'] as const) {
      const [own, whole] = [medians[name], medians[`${name} of the whole document`]]
      const bar = bars[name]?.[index] ?? Number.NaN
      figures.push({
        name: `${name} of one block, CPU at ${size} blocks`,
        value: `${ms(own)}, whole document ${ms(whole)} (×${(whole / own).toFixed(0)})`,
        bar: `under ${bar} ms`,
        met: own < bar,
      })
    }
    for (const [name, work] of Object.entries(subject.longWork())) {
      const longest = await longestStretch(work)
      figures.push({
        name: `${name}, longest stretch at ${size} blocks`,
        value: ms(longest),
        bar: 'under 50 ms',
        met: longest < 50,
      })
    }
  }
  return figures
}

/** A document that is open, an editor of it, and the same document for the way with whole documents. */
class Subject {
  readonly #state: Uint8Array
  readonly #body: FollowingBody
  readonly #editor: Editor
  readonly #wholeEditor: Editor
  readonly #log: Uint8Array[] = []
  #wholeLines: readonly string[]
  #turn = 0

  constructor(size: number) {
    const document = bodyOf(size)
    this.#state = deriveState(document)
    this.#wholeLines = documentToLines(document)
    this.#body = atOnce(FollowingBody.open({ updates: [this.#state], lines: this.#wholeLines }))
    this.#editor = new Editor(this.#state)
    this.#wholeEditor = new Editor(this.#state)
  }

  /** Somebody types in one block, and the flush stores it. */
  flush(): void {
    this.#body.apply(this.#editor.type())
    const { change } = atOnce(this.#body.settle('doc_1@1'))
    if (change === null) throw new Error('nothing was typed')
  }

  wholeFlush(): void {
    this.#log.push(this.#wholeEditor.type())
    const doc = openState(this.#state, ...this.#log)
    const raw = readDocument(bodyFragment(doc)).document
    const { document } = repairDocument(raw, 'doc_1@1')
    const lines = documentToLines(normaliseDocument(document, { from: 'json' }).result)
    changeBody({ from: this.#wholeLines.join('\n'), to: lines.join('\n') })
    this.#wholeLines = lines
  }

  /** A program changes one block. */
  follow(): void {
    if (atOnce(this.#body.follow(this.#written())).length === 0) throw new Error('nothing was written')
  }

  wholeFollow(): void {
    const doc = openState(this.#state, ...this.#log)
    followInto(doc, { from: linesToDocument(this.#body.lines), to: linesToDocument(this.#written()) })
  }

  /** Work that is cut in slices. */
  longWork(): Record<string, () => Promise<unknown>> {
    const body = this.#body
    const { lines } = body
    const replaced = documentToLines(bodyOf(lines.length))
    const slices = cutUpdates([Y.encodeStateAsUpdate(body.doc)])
    return {
      loading: () => inSlices(FollowingBody.open({ updates: slices, lines })),
      'following a PUT of other blocks': () => inSlices(body.follow(replaced)),
      'the flush after it': () => inSlices(body.settle('doc_1@0')),
    }
  }

  #written(): string[] {
    this.#turn += 1
    const { lines } = this.#body
    const index = (this.#turn * 37) % lines.length
    const [line] = documentToLines({ type: 'doc', content: [withText(JSON.parse(lines[index] as string), this.#turn)] })
    return lines.with(index, line as string)
  }
}

/** Somebody who types into one block after another. */
class Editor {
  readonly #doc: Y.Doc
  #update: Uint8Array = new Uint8Array()
  #turn = 0

  constructor(state: Uint8Array) {
    this.#doc = openState(state)
    this.#doc.on('update', (update: Uint8Array) => {
      this.#update = update
    })
  }

  /** The update of a few words. */
  type(): Uint8Array {
    this.#turn += 1
    const fragment = bodyFragment(this.#doc)
    firstText(fragment.get((this.#turn * 37) % fragment.length) as Y.XmlElement).insert(0, `turn ${this.#turn} `)
    return this.#update
  }
}

/**
 * A body in which most blocks are paragraphs, and the others lists, so that a top-level block has 1.9 ids on average.
 */
function bodyOf(size: number): DocNode {
  const content = Array.from(
    { length: size },
    (_, index): BlockNode => (index % 10 < 7 ? paragraph(index) : list(index)),
  )
  return normaliseDocument({ type: 'doc', content }, { from: 'json' }).result
}

function paragraph(index: number): BlockNode {
  const text = `Block ${index} says what a paragraph of a handbook says, `.repeat(5)
  return { type: 'paragraph', attrs: { id: newId('block') }, content: [{ type: 'text', text }] }
}

function list(index: number): BlockNode {
  const item: BodyNode = {
    type: 'listItem',
    attrs: { id: newId('block') },
    content: [paragraph(index), paragraph(index + 1)],
  }
  return { type: 'bulletList', attrs: { id: newId('block') }, content: [item] }
}

function withText(node: BlockNode, turn: number): BlockNode {
  if (node.type === 'paragraph')
    return { ...node, content: [{ type: 'text', text: `turn ${turn}` }, ...(node.content ?? [])] }
  const [first, ...rest] = node.content ?? []
  return { ...node, content: [withText(first as BlockNode, turn), ...rest] }
}

function firstText(element: Y.XmlElement): Y.XmlText {
  const child = element.get(0)
  return child instanceof Y.XmlText ? child : firstText(child as Y.XmlElement)
}

function processorTime(count: number, work: () => void): Promise<number> {
  const before = threadTime()
  for (let index = 0; index < count; index++) work()
  return Promise.resolve((threadTime() - before) / count)
}

/** The most processor time in milliseconds that this thread spends between two turns of the event loop. */
async function longestStretch(work: () => Promise<unknown>): Promise<number> {
  let [longest, last, isDone] = [0, threadTime(), false]
  const tick = () => {
    const now = threadTime()
    longest = Math.max(longest, now - last)
    last = now
    if (!isDone) setImmediate(tick)
  }
  setImmediate(tick)
  await work()
  isDone = true
  tick()
  return longest
}

function threadTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
