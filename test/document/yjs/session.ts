import fc from 'fast-check'
import * as Y from 'yjs'
import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { bodyFragment, idOf, type RawDocument, readDocument, readYText } from '../../../shared/body/yjs/encoding.ts'
import { repairDocument } from '../../../shared/body/yjs/repair.ts'
import { deriveState, followInto, openState } from '../../../shared/body/yjs/state.ts'
import { blocksOf, type Edit, edited, normalised, randomEdits } from './random-body.ts'

/** A step of a session: somebody types, the network delivers something, a program writes, or the server saves. */
export type Step =
  | { kind: 'type'; editor: number; block: number; offset: number }
  | { kind: 'send' | 'receive'; editor: number }
  | { kind: 'write'; edits: Edit[] }
  | { kind: 'flush' }

type Typed = { marker: string; block: string; delivered: boolean; lost: boolean; editor: number }

/** A random step. */
export function randomStep(): fc.Arbitrary<Step> {
  const editor = fc.nat(1)
  const typing = fc.record({ kind: fc.constant('type' as const), editor, block: fc.nat(50), offset: fc.nat(200) })
  const sync = fc.record({ kind: fc.constantFrom('send' as const, 'receive' as const), editor })
  const writing = fc.record({ kind: fc.constant('write' as const), edits: randomEdits() })
  return fc.oneof(
    { weight: 5, arbitrary: typing },
    { weight: 3, arbitrary: sync },
    { weight: 2, arbitrary: writing },
    { weight: 1, arbitrary: fc.constant({ kind: 'flush' as const }) },
  )
}

/** A server that follows a body, and two editors that are connected to it at times. */
export class Session {
  body: DocNode
  server: Y.Doc
  editors: Y.Doc[]
  typed: Typed[] = []
  nextId = 1000
  writes = 0
  /** The last write that each editor has seen, and the last write that made the text of a block anew. */
  received = [0, 0]
  remade = new Map<string | undefined, number>()

  constructor(body: DocNode) {
    const state = deriveState(body)
    this.body = body
    this.server = openState(state)
    this.editors = [openState(state), openState(state)]
  }

  run(step: Step): void {
    if (step.kind === 'type') this.type(step)
    else if (step.kind === 'write') this.write(step.edits)
    else if (step.kind === 'flush') this.flush()
    else if (step.kind === 'send') this.send(step.editor)
    else this.receive(step.editor)
  }

  type({ editor, block, offset }: { editor: number; block: number; offset: number }): void {
    const texts = textsBelow(bodyFragment(this.editor(editor)))
    const target = texts[block % Math.max(texts.length, 1)]
    const id = target && idOf(target.parent)
    if (!target || id === undefined) return
    // A token that the generators never write.
    const marker = String.fromCodePoint(0xf0000 + this.typed.length)
    const text = readYText(target)
      .map((node) => node.text ?? '')
      .join('')
    const places = [0, text.length, ...[...text.matchAll(/(?<= )/g)].map((found) => found.index)]
    target.insert(places[offset % places.length] ?? 0, marker)
    const lost = (this.remade.get(id) ?? 0) > (this.received[editor] ?? 0)
    this.typed.push({ marker, block: id, delivered: false, lost, editor })
  }

  send(editor: number): void {
    copy(this.editor(editor), this.server)
    for (const one of this.typed) if (one.editor === editor) one.delivered = true
  }

  receive(editor: number): void {
    this.received[editor] = this.writes
    copy(this.server, this.editor(editor))
  }

  write(edits: Edit[]): void {
    const to = edited(this.body, edits, this.nextId)
    this.nextId += 500
    this.follow(this.body, to)
    this.body = to
  }

  flush(): void {
    const raw = readDocument(bodyFragment(this.server)).document
    const { document } = repairDocument(raw, String(this.nextId++))
    this.follow(raw, document)
    this.body = normalised(document)
  }

  /**
   * A block that Yjs makes anew takes along the text that had arrived. Text still under way to the old block is lost.
   */
  follow(from: RawDocument, to: RawDocument): void {
    this.writes += 1
    const before = textsById(bodyFragment(this.server))
    followInto(this.server, { from, to })
    const after = textsById(bodyFragment(this.server))
    for (const [id, texts] of before) {
      if (!texts.every((text) => after.get(id)?.includes(text))) this.remade.set(id, this.writes)
    }
    const [known, left] = [allText(from), allText(to)]
    const ids = new Set(blocksOf(to).map(({ node }) => node.attrs?.id))
    for (const one of this.typed) {
      const deleted = !ids.has(one.block) || (known.includes(one.marker) && !left.includes(one.marker))
      if (deleted || (!one.delivered && this.remade.get(one.block) === this.writes)) one.lost = true
    }
  }

  finish(): void {
    for (const editor of [0, 1, 0, 1]) {
      this.send(editor)
      this.receive(editor)
    }
    this.flush()
    const [first, second] = [0, 1].map((editor) => {
      this.receive(editor)
      return JSON.stringify(normalised(readDocument(bodyFragment(this.editor(editor))).document))
    })
    if (first !== second || first !== JSON.stringify(this.body)) throw new Error('the documents differ')
    const text = allText(this.body)
    for (const { marker, lost } of this.typed) {
      const count = text.split(marker).length - 1
      if (count > 1 || (count === 0 && !lost)) throw new Error(`${marker} occurs ${count} times in ${text}`)
    }
  }

  editor(index: number): Y.Doc {
    return this.editors[index] ?? this.server
  }
}

function copy(from: Y.Doc, to: Y.Doc): void {
  Y.applyUpdate(to, Y.encodeStateAsUpdate(from, Y.encodeStateVector(to)))
}

function textsBelow(parent: Y.XmlFragment): Y.XmlText[] {
  return parent.toArray().flatMap((child): Y.XmlText[] => {
    if (child instanceof Y.XmlText) return [child]
    return child instanceof Y.XmlElement ? textsBelow(child) : []
  })
}

function textsById(parent: Y.XmlFragment): Map<string | undefined, Y.XmlText[]> {
  return Map.groupBy(textsBelow(parent), (text) => idOf(text.parent))
}

function allText(node: BodyNode | RawDocument): string {
  const own = 'text' in node ? (node.text ?? '') : ''
  return own + (node.content ?? []).map(allText).join('')
}
