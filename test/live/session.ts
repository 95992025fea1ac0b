import fc from 'fast-check'
import * as Y from 'yjs'
import type { BodyNode, DocNode } from '../../shared/body/document.ts'
import { bodyFragment, idOf } from '../../shared/body/yjs/encoding.ts'
import { blocksOf, type Edit, edited, randomEdits } from '../document/yjs/random-body.ts'
import { copyInto, type LiveKey, LiveProcess, plain, type Site, shown, split } from './site.ts'

/**
 * A step of a session: somebody types, the network delivers something, a program writes, or a process does its duties.
 */
export type Step =
  | { kind: 'type' | 'split'; editor: number; block: number; offset: number }
  | { kind: 'send' | 'receive'; editor: number }
  | { kind: 'write'; edits: Edit[] }
  | { kind: 'sync' | 'flush' | 'compact' | 'restart' | 'open' }

/** A random step. */
export function randomStep(): fc.Arbitrary<Step> {
  const editor = fc.nat(1)
  const place = { editor, block: fc.nat(50), offset: fc.nat(200) }
  const duty = fc.constantFrom('sync' as const, 'compact' as const, 'restart' as const, 'open' as const)
  return fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('type' as const), ...place }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('split' as const), ...place }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('send' as const, 'receive' as const), editor }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('write' as const), edits: randomEdits() }) },
    { weight: 3, arbitrary: fc.constant({ kind: 'flush' as const }) },
    { weight: 2, arbitrary: fc.record({ kind: duty }) },
  )
}

/** A word that somebody typed: its Y text, how far it has come, and whether it may be missing. */
type Typed = { marker: string; home: string; editor: number; at: 'editor' | 'process' | 'database'; mayBeLost: boolean }

type Text = { home: string; block: string | undefined; characters: string }

/** A live process with the database, two editors that are connected to it at times, and a program. */
export class Session {
  readonly #site: Site
  readonly #key: LiveKey
  readonly #live: LiveProcess
  readonly #editors = [new Y.Doc(), new Y.Doc()]
  readonly #typed: Typed[] = []
  /** Y texts that a change of the body removed. Text that is typed into them is lost. */
  readonly #removed = new Set<string>()
  #splits = 0
  #nextId = 1000
  /** The stored body, and the body that the Y document follows. */
  #body: DocNode
  #stood: DocNode

  private constructor(site: Site, live: LiveProcess, body: DocNode) {
    this.#site = site
    this.#key = live.key
    this.#live = live
    this.#body = body
    this.#stood = body
  }

  static async start(site: Site, body: DocNode): Promise<Session> {
    const session = new Session(site, await LiveProcess.open(site, await site.create(body)), body)
    for (const editor of session.#editors) copyInto(editor, session.#live.doc)
    return session
  }

  async run(step: Step): Promise<void> {
    if (step.kind === 'type') this.#type(step)
    else if (step.kind === 'split') this.#split(step)
    else if (step.kind === 'send') this.#send(step.editor)
    else if (step.kind === 'receive') copyInto(this.#editor(step.editor), this.#live.doc)
    else if (step.kind === 'write') await this.#write(step.edits)
    else if (step.kind === 'flush') await this.#follow(() => this.#live.flush())
    else if (step.kind === 'sync') await this.#follow(() => this.#live.sync())
    else if (step.kind === 'open') await this.#follow(() => LiveProcess.open(this.#site, this.#key))
    else if (step.kind === 'compact') await this.#live.compact()
    else await this.#restart()
  }

  /** Lets everything arrive, and compares all replicas, the body and the typed words with each other. */
  async finish(): Promise<void> {
    for (const editor of [0, 1, 0, 1]) {
      this.#send(editor)
      copyInto(this.#editor(editor), this.#live.doc)
    }
    await this.#follow(() => this.#live.flush())
    for (const editor of this.#editors) copyInto(editor, this.#live.doc)
    const opened = await LiveProcess.open(this.#site, this.#key)
    const want = JSON.stringify(this.#body)
    for (const doc of [this.#live.doc, opened.doc, ...this.#editors]) {
      const got = JSON.stringify(shown(doc))
      if (got !== want) throw new Error(`the documents differ\ngot  ${got}\nwant ${want}`)
    }
    const text = textOf(this.#body)
    for (const { marker, mayBeLost } of this.#typed) {
      const count = text.split(marker).length - 1
      const most = this.#splits > 0 ? Number.POSITIVE_INFINITY : 1
      if (count > most || (count === 0 && !mayBeLost)) throw new Error(`${marker} occurs ${count} times in ${text}`)
    }
  }

  #type({ editor, block, offset }: { editor: number; block: number; offset: number }): void {
    const texts = textsBelow(bodyFragment(this.#editor(editor)))
    const target = texts[block % Math.max(texts.length, 1)]
    if (!target) return
    // A token that the generators never write.
    const marker = String.fromCodePoint(0xf0000 + this.#typed.length)
    const places = placesIn(plain(target))
    target.insert(places[offset % places.length] ?? 0, marker)
    this.#typed.push({ marker, home: homeOf(target), editor, at: 'editor', mayBeLost: false })
  }

  #split({ editor, block, offset }: { editor: number; block: number; offset: number }): void {
    const doc = this.#editor(editor)
    const paragraphs = bodyFragment(doc)
      .toArray()
      .flatMap((child, index) => (isSplittable(child) ? [{ index, text: child.get(0) as Y.XmlText }] : []))
    const target = paragraphs[block % Math.max(paragraphs.length, 1)]
    if (!target) return
    const places = placesIn(plain(target.text))
    split(doc, target.index, places[offset % places.length] ?? 0)
    this.#splits += 1
  }

  #send(editor: number): void {
    copyInto(this.#live.doc, this.#editor(editor))
    const text = textsIn(this.#live.doc)
    for (const one of this.#typed) {
      if (one.editor !== editor || one.at !== 'editor') continue
      one.at = 'process'
      const isThere = text.some(({ characters }) => characters.includes(one.marker))
      if (!isThere) this.#lose(one, this.#removed.has(one.home))
    }
  }

  async #write(edits: Edit[]): Promise<void> {
    this.#body = await this.#site.write(this.#key, (body) => edited(body, edits, this.#nextId))
    this.#nextId += 500
  }

  // The process loses its memory. A browser that is still connected sends everything again.
  async #restart(): Promise<void> {
    for (const one of this.#typed) if (one.at === 'process') one.at = 'editor'
    await this.#follow(() => this.#live.restart())
  }

  async #follow(act: () => Promise<unknown>): Promise<void> {
    const before = textsIn(this.#live.doc)
    const stores = await act()
    const isFlush = typeof stores === 'object' && stores !== null && 'changed' in stores
    const [known, left] = [textOf(this.#stood), textOf(this.#body)]
    const ids = new Set<unknown>(blocksOf(this.#body).map(({ node }) => node.attrs?.id))
    if (isFlush) for (const one of this.#typed) if (one.at === 'process') one.at = 'database'
    this.#body = (await this.#site.read(this.#key)).body
    this.#stood = this.#body
    if (stores instanceof LiveProcess) await this.#live.sync()
    const after = textsIn(this.#live.doc)
    const homes = new Set(after.map(({ home }) => home))
    for (const { home } of before) if (!homes.has(home)) this.#removed.add(home)
    for (const one of this.#typed) {
      const place = one.at === 'editor' ? undefined : before.find(({ characters }) => characters.includes(one.marker))
      if (!place || after.some(({ characters }) => characters.includes(one.marker))) continue
      const isUnderWay = one.at !== 'database' && this.#removed.has(place.home)
      const wasDeleted = known.includes(one.marker) && !left.includes(one.marker)
      this.#lose(one, isUnderWay || wasDeleted || !ids.has(place.block))
    }
  }

  #lose(one: Typed, isExcused: boolean): void {
    if (!isExcused) throw new Error(`${one.marker} was lost on its way`)
    one.mayBeLost = true
  }

  #editor(index: number): Y.Doc {
    return this.#editors[index] ?? this.#live.doc
  }
}

function textsIn(doc: Y.Doc): Text[] {
  return textsBelow(bodyFragment(doc)).map((text) => ({
    home: homeOf(text),
    block: idOf(text.parent),
    characters: plain(text),
  }))
}

function textsBelow(parent: Y.XmlFragment): Y.XmlText[] {
  return parent.toArray().flatMap((child): Y.XmlText[] => {
    if (child instanceof Y.XmlText) return [child]
    return child instanceof Y.XmlElement ? textsBelow(child) : []
  })
}

/** The name of a Y text in every replica. */
function homeOf(text: Y.XmlText): string {
  return `${text._item?.id.client}:${text._item?.id.clock}`
}

/** The positions at which words can be inserted and texts be split without tearing a word or a character apart. */
function placesIn(text: string): number[] {
  return [0, text.length, ...[...text.matchAll(/(?<= )/g)].map((found) => found.index)]
}

function isSplittable(child: unknown): child is Y.XmlElement {
  return child instanceof Y.XmlElement && child.nodeName === 'paragraph' && child.get(0) instanceof Y.XmlText
}

function textOf(node: BodyNode | DocNode): string {
  const own = 'text' in node ? (node.text ?? '') : ''
  return own + (node.content ?? []).map(textOf).join('')
}
