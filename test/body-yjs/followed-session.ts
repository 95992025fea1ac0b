import fc from 'fast-check'
import * as Y from 'yjs'
import { documentToLines, linesToDocument } from '../../shared/body/canonical.ts'
import { changeBody } from '../../shared/body/change.ts'
import type { DocNode } from '../../shared/body/document.ts'
import { bodyFragment, readDocument } from '../../shared/body/yjs/encoding.ts'
import { FollowingBody } from '../../shared/body/yjs/following-body.ts'
import { HeldIds } from '../../shared/body/yjs/held-ids.ts'
import { repairDocument } from '../../shared/body/yjs/repair.ts'
import { deriveState, followInto, openState } from '../../shared/body/yjs/state.ts'
import { atOnce } from '../../shared/computations/slices.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { type Edit, edited, normalised, randomEdits } from './random-body.ts'
import { type WildEdit, WildEditor, wildEdit } from './wild-editor.ts'

/** A step of a session: somebody edits or exchanges updates with the server, a program writes, or the server saves. */
export type FollowedStep =
  | { kind: 'edit'; editor: number; edit: WildEdit }
  | { kind: 'send'; editor: number }
  | { kind: 'write'; edits: Edit[] }
  | { kind: 'settle' }

/** A random step. */
export function followedStep(): fc.Arbitrary<FollowedStep> {
  const editor = fc.nat(2)
  return fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('edit' as const), editor, edit: wildEdit() }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('send' as const), editor }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), edits: randomEdits() }) },
    { weight: 2, arbitrary: fc.constant({ kind: 'settle' as const }) },
  )
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
    else this.settle()
  }

  settle(): void {
    this.#turn += 1
    const seed = `doc_1@${this.#turn}`
    const body = this.#body
    const before = body.lines
    const whole = copyOf(body.doc)
    const raw = readDocument(bodyFragment(whole), { note: this.#held.note }).document
    const { document, repairs } = repairDocument(raw, seed, this.#held.has)
    followInto(whole, { from: raw, to: document })
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
      to: {
        type: 'doc',
        content: to.content.map(
          (block) => kept.get(documentToLines({ type: 'doc', content: [block] })[0] ?? '') ?? block,
        ),
      },
    })
    atOnce(this.#body.follow(documentToLines(to)))
    same(this.#body.lines, documentToLines(to))
    same(readDocument(bodyFragment(this.#body.doc)).document, readDocument(bodyFragment(whole)).document)
  }

  #exchange(index: number): void {
    const { doc } = this.#editors[index] as WildEditor
    this.#body.apply(Y.encodeStateAsUpdate(doc, Y.encodeStateVector(this.#body.doc)))
    Y.applyUpdate(doc, Y.encodeStateAsUpdate(this.#body.doc, Y.encodeStateVector(doc)))
  }
}

function copyOf(doc: Y.Doc): Y.Doc {
  return openState(Y.encodeStateAsUpdate(doc))
}

function same(got: unknown, want: unknown): void {
  const [left, right] = [JSON.stringify(got), JSON.stringify(want)]
  if (left !== right) throw new Error(`got  ${left}\nwant ${right}`)
}

/** A body after edits; null when the edits put a node where it may not stand, such as frontmatter into a quotation. */
function editedOrNull(from: DocNode, edits: readonly Edit[], firstId: number): DocNode | null {
  try {
    return edited(from, edits, firstId)
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}
