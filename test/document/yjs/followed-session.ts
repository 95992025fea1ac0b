import fc from 'fast-check'
import * as Y from 'yjs'
import { documentToLines, linesToDocument } from '../../../shared/body/canonical.ts'
import { changeBody } from '../../../shared/body/change.ts'
import type { DocNode } from '../../../shared/body/document.ts'
import { isTextblock } from '../../../shared/body/nodes.ts'
import { bodyFragment, idOf, readDocument, readElement } from '../../../shared/body/yjs/encoding.ts'
import { FollowingBody } from '../../../shared/body/yjs/following-body.ts'
import { HeldIds } from '../../../shared/body/yjs/held-ids.ts'
import { repairDocument } from '../../../shared/body/yjs/repair.ts'
import { deriveState, followInto, openState } from '../../../shared/body/yjs/state.ts'
import { asRead, liveIds } from '../../../shared/body/yjs/work.ts'
import { atOnce } from '../../../shared/computations/slices.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { type Edit, edited, normalised, randomEdits } from './random-body.ts'
import { elementsBelow, type WildEdit, WildEditor, wildEdit } from './wild-editor.ts'

/**
 * A step of a session: somebody edits or exchanges updates with the server, a program writes, the server saves, or a
 * program writes while somebody copies a block and types.
 */
export type FollowedStep =
  | { kind: 'edit'; editor: number; edit: WildEdit }
  | { kind: 'send'; editor: number }
  | { kind: 'write'; edits: Edit[] }
  | { kind: 'settle' }
  | { kind: 'copy and write'; editor: number; copied: WildEdit; typed: WildEdit; edits: Edit[] }

/** A random step. */
export function followedStep(): fc.Arbitrary<FollowedStep> {
  const editor = fc.nat(2)
  return fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('edit' as const), editor, edit: wildEdit() }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), editor }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), edits: randomEdits() }) },
    { weight: 2, arbitrary: fc.constant({ kind: 'settle' as const }) },
    { weight: 1, arbitrary: copyAndWrite() },
  )
}

function copyAndWrite(): fc.Arbitrary<FollowedStep> {
  return fc.record({
    kind: fc.constant('copy and write' as const),
    editor: fc.nat(2),
    copied: wildEdit().map((edit) => ({ ...edit, kind: 'duplicate' as const })),
    typed: wildEdit().map((edit) => ({ ...edit, kind: 'type' as const })),
    edits: randomEdits(),
  })
}

/** A body that follows three editors and a program. Every result is compared with that of the whole document. */
export class FollowedSession {
  readonly #body: FollowingBody
  readonly #editors: WildEditor[]
  #held: HeldIds
  #turn = 1

  constructor(body: DocNode) {
    const state = deriveState(body)
    this.#body = atOnce(FollowingBody.open({ updates: [state], lines: documentToLines(body) }))
    this.#held = new HeldIds(this.#body.doc)
    this.#editors = [0, 1, 2].map(() => new WildEditor(state))
  }

  run(one: FollowedStep): void {
    if (one.kind === 'edit') this.#editors[one.editor]?.edit(one.edit)
    else if (one.kind === 'send') this.#exchange(one.editor)
    else if (one.kind === 'write') this.#write(one.edits)
    else if (one.kind === 'settle') this.settle()
    else {
      this.#editors[one.editor]?.edit(one.copied)
      this.#editors[one.editor]?.edit(one.typed)
      this.#exchange(one.editor)
      this.#write(one.edits)
    }
  }

  settle(): void {
    this.#turn += 1
    const seed = `doc_1@${this.#turn}`
    const body = this.#body
    const before = body.lines
    const whole = copyOf(body.doc)
    const raw = readDocument(bodyFragment(whole), { note: this.#held.note }).document
    const { document, repairs } = repairDocument(raw, seed, this.#held.has)
    followInto(whole, { from: raw, to: document, live: asRead })
    const lines = documentToLines(normalised(document))
    const settled = atOnce(body.settle(seed))
    same(body.lines, lines)
    same(settled.repairs, repairs)
    this.#held = new HeldIds(body.doc)
    const after = readDocument(bodyFragment(body.doc)).document
    same(documentToLines(normalised(repairDocument(after, 'again').document)), lines)
    same(readDocument(bodyFragment(body.doc)).document, readDocument(bodyFragment(whole)).document)
    const texts = { from: before.join('\n'), to: lines.join('\n') }
    same(settled.change, texts.from === texts.to ? null : changeBody(texts))
    same([body.text, body.bytes, body.version], [texts.to, Buffer.byteLength(texts.to), changeBody(texts).version])
  }

  #write(edits: readonly Edit[]): void {
    const from = linesToDocument(this.#body.lines)
    const to = editedOrNull(from, edits, 1000 * this.#turn++)
    if (to === null) return
    const whole = copyOf(this.#body.doc)
    const kept = new Map(documentToLines(from).map((line, index) => [line, from.content[index]]))
    followInto(whole, {
      from,
      live: liveIds(bodyFragment(whole), this.#held),
      to: {
        type: 'doc',
        content: to.content.map(
          (block) => kept.get(documentToLines({ type: 'doc', content: [block] })[0] ?? '') ?? block,
        ),
      },
    })
    const copies = this.#copies()
    atOnce(this.#body.follow(documentToLines(to)))
    for (const [copy, text] of copies) if (!isGone(copy)) same(textOf(copy), text)
    same(this.#body.lines, documentToLines(to))
    same(readDocument(bodyFragment(this.#body.doc)).document, readDocument(bodyFragment(whole)).document)
  }

  /** The textblocks that are copies of another block, which holds their id. A program does not mean them. */
  #copies(): Map<Y.XmlElement, string> {
    const elements = elementsBelow(bodyFragment(this.#body.doc))
    const holders = elements.filter((element) => this.#held.rankOf(element) === 2)
    const held = new Set(holders.map(idOf))
    const copies = elements.filter((element) => held.has(idOf(element)) && !holders.includes(element))
    return new Map(copies.filter(({ nodeName }) => isTextblock(nodeName)).map((copy) => [copy, textOf(copy)]))
  }

  #exchange(index: number): void {
    const { doc } = this.#editors[index] as WildEditor
    this.#body.apply(Y.encodeStateAsUpdate(doc, Y.encodeStateVector(this.#body.doc)))
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(this.#body.doc, Y.encodeStateVector(doc)))
  }
}

function isGone(element: Y.XmlElement): boolean {
  return element._item?.deleted !== false
}

function textOf(textblock: Y.XmlElement): string {
  return JSON.stringify(readElement(textblock).content ?? [])
}

function copyOf(doc: Y.Doc): Y.Doc {
  return openState(Y.encodeStateAsUpdate(doc))
}

function same(got: unknown, want: unknown): void {
  const [left, right] = [JSON.stringify(got), JSON.stringify(want)]
  if (left !== right) throw new Error(`got  ${left}\nwant ${right}`)
}

/** A body after edits; null when the edits put a node where it may not stand, such as frontmatter into a quotation. */
export function editedOrNull(from: DocNode, edits: readonly Edit[], firstId: number): DocNode | null {
  try {
    return edited(from, edits, firstId)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}
