import fc from 'fast-check'
import * as Y from 'yjs'
import { documentToLines, linesToDocument } from '../../../shared/body/canonical.ts'
import type { DocNode } from '../../../shared/body/document.ts'
import { bodyFragment } from '../../../shared/body/yjs/encoding.ts'
import { FollowingBody } from '../../../shared/body/yjs/following-body.ts'
import { deriveState, openState } from '../../../shared/body/yjs/state.ts'
import { atOnce } from '../../../shared/computations/slices.ts'
import { editedOrNull } from './followed-session.ts'
import { type Edit, randomEdits } from './random-body.ts'
import { elementsBelow, textsBelow } from './wild-editor.ts'

/** An edit of a person. */
export type Typing = { kind: 'type' | 'erase' | 'enter'; at: number; place: number }
/** What a person types, and what a program writes, before the document is saved. */
export type Turn = { typed: Typing[]; written: Edit[] | null }

const typing: fc.Arbitrary<Typing> = fc.record({
  kind: fc.constantFrom('type', 'type', 'type', 'erase', 'enter'),
  at: fc.nat(1000),
  place: fc.nat(1000),
})
/** A random turn. */
export function randomTurn(): fc.Arbitrary<Turn> {
  return fc.record({ typed: fc.array(typing, { maxLength: 4 }), written: fc.option(randomEdits(), { nil: null }) })
}

/** A followed body with one editor, which has seen everything whenever it edits. */
export class EditedBody {
  readonly #body: FollowingBody
  readonly #editor: Y.Doc
  readonly #knowsIds: boolean
  #turn = 0

  constructor(document: DocNode, { knowsIds }: { knowsIds: boolean }) {
    const state = deriveState(document)
    this.#body = atOnce(FollowingBody.open({ updates: [state], lines: documentToLines(document) }))
    this.#editor = openState(state)
    this.#knowsIds = knowsIds
  }

  /** Types, writes and saves. Returns the lines of the body. */
  flush({ typed, written }: Turn, index: number): readonly string[] {
    for (const one of typed) this.type(one)
    const from = linesToDocument(this.#body.lines)
    return this.settled(written === null ? null : editedOrNull(from, written, 1000 * (index + 1)))
  }

  type({ kind, at, place }: Typing): void {
    this.#editor.transact(() => {
      const texts = textsBelow(bodyFragment(this.#editor))
      const text = texts[at % Math.max(texts.length, 1)]
      if (!text) return
      const offset = place % (text.length + 1)
      if (kind === 'type') text.insert(offset, 'w')
      else if (kind === 'erase') text.delete(offset, Math.min(1, text.length - offset))
      else if (!this.#addParagraphBehind(text)) return
      if (!this.#knowsIds) this.#dropIdsAround(text)
    })
  }

  /** Saves, together with a write of a program if there is one. Returns the lines of the body. */
  settled(written: DocNode | null = null): readonly string[] {
    this.#turn += 1
    this.#body.apply(Y.encodeStateAsUpdate(this.#editor, Y.encodeStateVector(this.#body.doc)))
    if (written !== null) atOnce(this.#body.follow(documentToLines(written)))
    atOnce(this.#body.settle(`doc_1@${this.#turn}`))
    Y.applyUpdate(this.#editor, Y.encodeStateAsUpdate(this.#body.doc, Y.encodeStateVector(this.#editor)))
    return this.#body.lines
  }

  #addParagraphBehind({ parent }: Y.XmlText): boolean {
    const fragment = bodyFragment(this.#editor)
    const index = fragment.toArray().indexOf(parent as Y.XmlElement)
    if (index < 0) return false
    const added = new Y.XmlElement('paragraph')
    added.insert(0, [new Y.XmlText()])
    fragment.insert(index + 1, [added])
    return true
  }

  /** Removes all ids from the top-level block around a text, as the binding of such an editor does. */
  #dropIdsAround(text: Y.XmlText): void {
    const blocks = bodyFragment(this.#editor).toArray()
    const around = blocks.find((block) => block instanceof Y.XmlElement && textsBelow(block).includes(text))
    if (!(around instanceof Y.XmlElement)) return
    for (const element of [around, ...elementsBelow(around)]) {
      if (element.nodeName !== 'mention') element.removeAttribute('id')
    }
  }
}
