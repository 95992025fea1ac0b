import fc from 'fast-check'
import * as Y from 'yjs'
import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { isTextblock } from '../../../shared/body/nodes.ts'
import { bodyFragment, idOf, readDocument, readYText } from '../../../shared/body/yjs/encoding.ts'
import { blocksOf, type Edit, edited, normalised, randomEdits } from './random-body.ts'
import { allText, type Editor, Room } from './room.ts'
import { edit, type PersonEdit, type PersonEditKind } from './typing.ts'

/** A step: a person edits or undoes, the network delivers or fails, a program writes, or the server stores. */
export type RoomStep =
  | { kind: 'edit'; editor: number; edit: PersonEdit }
  | { kind: 'undo' | 'send' | 'receive' | 'leave' | 'return'; editor: number }
  | { kind: 'write'; edits: Edit[] }
  | { kind: 'begin flush' }
  | { kind: 'end flush' }

/** A random step of `editors` editors who make the given edits. */
export function randomRoomStep(editors: number, kinds: readonly PersonEditKind[]): fc.Arbitrary<RoomStep> {
  const editor = fc.nat(editors - 1)
  const edit = fc.record({
    kind: fc.oneof(
      { weight: 4, arbitrary: fc.constant('type' as const) },
      { weight: 3, arbitrary: fc.constantFrom(...kinds) },
    ),
    at: fc.nat(50),
    to: fc.nat(50),
    place: fc.nat(200),
  })
  return fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('edit' as const), editor, edit }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('send' as const, 'receive' as const), editor }) },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constantFrom('leave' as const, 'return' as const, 'undo' as const), editor }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('write' as const), edits: randomEdits() }) },
    { weight: 2, arbitrary: fc.constant({ kind: 'begin flush' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'end flush' as const }) },
  )
}

type Typed = { marker: string; blocks: Set<string>; isDeleted: boolean }

/**
 * A room with editors and programs, and an account of what each of them did. Every typed marker must be there in the
 * end, unless somebody who saw it deleted it, or somebody deleted a block around it.
 */
export class RoomSession {
  readonly #room: Room
  readonly #undo: Y.UndoManager[]
  readonly #away = new Set<number>()
  readonly #typed: Typed[] = []
  readonly #deletedIds = new Set<string>()
  /** The blocks that editors have dragged. */
  readonly #draggedIds = new Set<string>()
  /** The blocks in which each block has ever been. */
  readonly #around = new Map<string, Set<string>>()
  /** The blocks with text at the start. A container that loses its last block from two sides goes, too. */
  readonly #initialIds: readonly string[]
  #endFlush: (() => void) | null = null
  #nextId = 1000
  // Editors who split, join or drag blocks copy text, and Yjs keeps both copies of two editors.
  #isCopied = false

  constructor(body: DocNode, editors: number) {
    this.#room = new Room(body, editors)
    this.#initialIds = textblocksOf(body)
    this.#noteParents(body)
    this.#undo = this.#room.editors.map(({ doc }) => new Y.UndoManager(bodyFragment(doc), { captureTimeout: 0 }))
  }

  run(step: RoomStep): void {
    if (step.kind === 'write') this.#write(step.edits)
    else if (step.kind === 'begin flush') this.#beginFlush()
    else if (step.kind === 'end flush') this.#finishFlush()
    else {
      const editor = this.#room.editors[step.editor]
      if (!editor) return
      if (step.kind === 'edit') this.#edit(editor, step.edit)
      if (step.kind === 'undo') this.#watch(editor, () => this.#undo[step.editor]?.undo() !== null)
      if (step.kind === 'leave') this.#leave(editor, step.editor)
      if (step.kind === 'return' && this.#away.delete(step.editor)) this.#room.reconnect(editor)
      if (this.#away.has(step.editor)) editor.outbox.length = 0
      if (step.kind === 'send' && !this.#away.has(step.editor)) this.#room.deliver(editor)
      if (step.kind === 'receive' && !this.#away.has(step.editor)) editor.receive()
    }
  }

  finish(): void {
    this.#finishFlush()
    for (const index of this.#away) {
      const editor = this.#room.editors[index]
      if (editor) this.#room.reconnect(editor)
    }
    this.#away.clear()
    this.#room.settle()
    this.#checkReplicas()
    this.#checkMarkers()
    this.#checkIds()
  }

  /**
   * A connection breaks. If a message was under way, and its editor has learned of a move since, the editor's own
   * document has dropped what stood in the old block, so that nobody has it any more.
   */
  #leave(editor: Editor, index: number): void {
    const left = editor.outbox.length > 0 ? allText(readDocument(bodyFragment(editor.doc)).document as DocNode) : null
    for (const typed of this.#typed) typed.isDeleted ||= left !== null && !left.includes(typed.marker)
    this.#away.add(index)
  }

  #edit(editor: Editor, made: PersonEdit): void {
    // A character that the generators never write.
    const marker = String.fromCodePoint(0xf0000 + this.#typed.length)
    const done = this.#watch(editor, () => edit(editor.doc, made, marker))
    if (!done) return
    if (made.kind === 'type') this.#typed.push({ marker, blocks: blocksAround(editor.doc, marker), isDeleted: false })
    else if (['split', 'join', 'drag', 'remove'].includes(made.kind)) this.#isCopied = true
  }

  /** Notes what a person deletes: text that the person saw, and blocks. */
  #watch(editor: Editor, change: () => boolean): boolean {
    const before = readDocument(bodyFragment(editor.doc)).document as DocNode
    const elements = topElements(editor.doc)
    const done = change()
    const after = readDocument(bodyFragment(editor.doc)).document as DocNode
    this.#note(before, after)
    const moved = after.content.filter((_, index) => !elements.has(bodyFragment(editor.doc).get(index)))
    for (const block of moved) for (const id of [String(block.attrs?.id), ...idsOf(block)]) this.#draggedIds.add(id)
    return done
  }

  #write(edits: Edit[]): void {
    const before = this.#room.body
    this.#room.body = edited(before, edits, this.#nextId)
    this.#nextId += 500
    this.#note(before, this.#room.body)
  }

  #note(before: DocNode, after: DocNode): void {
    const [seen, left] = [allText(before), allText(after)]
    for (const typed of this.#typed) {
      if (seen.includes(typed.marker) && !left.includes(typed.marker)) typed.isDeleted = true
    }
    const ids = new Set(idsOf(after))
    for (const id of idsOf(before)) if (!ids.has(id)) this.#deletedIds.add(id)
    this.#noteParents(after)
  }

  #noteParents(node: BodyNode | DocNode, around: readonly string[] = []): void {
    for (const child of node.content ?? []) {
      const id = String(child.attrs?.id)
      const known = this.#around.get(id) ?? new Set()
      this.#around.set(id, known)
      for (const parent of around) known.add(parent)
      this.#noteParents(child, [...around, id])
    }
  }

  /** Whether somebody deleted a block, or a block around it. */
  #isGone(id: string): boolean {
    const found = new Set([id])
    for (const one of found) {
      if (this.#deletedIds.has(one)) return true
      for (const parent of this.#around.get(one) ?? []) found.add(parent)
    }
    return false
  }

  #beginFlush(): void {
    this.#finishFlush()
    // Two moves of one block at the same moment leave it twice. A program that moves it again takes one of the two.
    const twice = idsOf(readDocument(bodyFragment(this.#room.live)).document as DocNode)
    for (const id of twice) if (this.#draggedIds.has(id) && count(twice, id) > 1) this.#deletedIds.add(id)
    this.#endFlush = this.#room.beginFlush()
    for (const typed of this.#typed) {
      for (const id of blocksAround(this.#room.live, typed.marker)) typed.blocks.add(id)
      for (const id of blocksAround(this.#room.shadow, typed.marker)) typed.blocks.add(id)
    }
  }

  #finishFlush(): void {
    this.#endFlush?.()
    this.#endFlush = null
  }

  #checkReplicas(): void {
    const want = JSON.stringify(this.#room.body)
    for (const doc of [this.#room.live, this.#room.shadow, ...this.#room.editors.map((editor) => editor.doc)]) {
      const got = JSON.stringify(normalised(readDocument(bodyFragment(doc)).document))
      if (got !== want) throw new Error(`the documents differ:\ngot  ${got}\nwant ${want}`)
    }
  }

  #checkMarkers(): void {
    const text = allText(this.#room.body)
    for (const { marker, blocks, isDeleted } of this.#typed) {
      const count = text.split(marker).length - 1
      const isWithBlock = [...blocks].some((id) => this.#isGone(id))
      if (count === 0 && !isDeleted && !isWithBlock) throw new Error(`U+${marker.codePointAt(0)?.toString(16)} is lost`)
      if (count > 1 && !this.#isCopied)
        throw new Error(`U+${marker.codePointAt(0)?.toString(16)} is there ${count} times`)
    }
    if (this.#room.lost.length > 0) throw new Error(`reported ${JSON.stringify(this.#room.lost)}`)
  }

  #checkIds(): void {
    const ids = idsOf(this.#room.body)
    if (new Set(ids).size !== ids.length) throw new Error('a block id is there twice')
    for (const id of this.#initialIds) {
      if (!ids.includes(id) && !this.#isGone(id)) throw new Error(`nobody deleted ${id}`)
    }
  }
}

function topElements(doc: Y.Doc): ReadonlySet<unknown> {
  return new Set(bodyFragment(doc).toArray())
}

function count(values: readonly string[], wanted: string): number {
  return values.filter((value) => value === wanted).length
}

function idsOf(body: BodyNode | DocNode): string[] {
  return blocksOf(body as BodyNode).map(({ node }) => String(node.attrs?.id))
}

function textblocksOf(body: DocNode): string[] {
  const blocks = blocksOf(body as BodyNode).filter(({ node }) => isTextblock(node.type))
  return blocks.map(({ node }) => String(node.attrs?.id))
}

/** The ids of the blocks around a marker. */
function blocksAround(doc: Y.Doc, marker: string): Set<string> {
  const ids = new Set<string>()
  const visit = (parent: Y.XmlFragment, around: readonly string[]): void => {
    for (const child of parent.toArray()) {
      if (child instanceof Y.XmlText) {
        if (readYText(child).some(({ text }) => text?.includes(marker))) for (const id of around) ids.add(id)
      } else if (child instanceof Y.XmlElement) visit(child, [...around, idOf(child) ?? ''])
    }
  }
  visit(bodyFragment(doc), [])
  return ids
}
