import * as Y from 'yjs'
import type { BodyNode, DocNode } from '../../../shared/body/document.ts'
import { bodyFragment, idOf, readDocument } from '../../../shared/body/yjs/encoding.ts'
import { repairDocument } from '../../../shared/body/yjs/repair.ts'
import { type LostText, TextRescue } from '../../../shared/body/yjs/rescue.ts'
import { deriveState, followInto, openState } from '../../../shared/body/yjs/state.ts'
import { asRead } from '../../../shared/body/yjs/work.ts'
import { blocksOf, normalised } from './random-body.ts'

/** The server's side of an open document, as a live process keeps it, and the editors that are connected to it. */
export class Room {
  /** The stored body that the shadow follows, and the body that programs have made of it. */
  body: DocNode
  followed: DocNode
  /** The Y document as it is stored, and the Y document that the editors see. */
  readonly shadow: Y.Doc
  readonly live: Y.Doc
  readonly rescue: TextRescue
  readonly editors: Editor[]
  readonly lost: LostText[] = []
  #pending: Uint8Array[] = []
  #flushes = 0

  /** Opens a body, or the stored Y document of the body. */
  constructor(body: DocNode, editors: number, state = deriveState(body)) {
    this.body = body
    this.followed = body
    this.shadow = openState(state)
    this.live = openState(state)
    this.editors = Array.from({ length: editors }, () => new Editor(state))
    this.live.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== stored) this.#pending.push(update)
      for (const editor of this.editors) editor.inbox.push(update)
    })
    this.rescue = new TextRescue(this.live, {
      sourceOf: (origin) => (origin instanceof Editor ? 'editor' : 'stored'),
      origin: rescued,
      onLost: (lost) => this.lost.push(lost),
    })
  }

  /** A program changes the body. The Y documents follow with the next flush. */
  write(change: (body: WritableBody) => void): void {
    const next = structuredClone(this.body) as WritableBody
    change(next)
    this.body = normalised(next)
  }

  /** A block of the body. */
  block(id: string): BodyNode {
    return blockOf(this.body, id)
  }

  /** The text of a block of the body. */
  textOf(id: string): string {
    return allText(this.block(id))
  }

  /** The server receives what an editor has sent so far. */
  deliver(editor: Editor): void {
    for (const update of editor.outbox.splice(0)) this.rescue.apply(update, editor)
  }

  /** An editor that was away comes back: it sends what the server lacks before it learns what happened. */
  reconnect(editor: Editor): void {
    editor.outbox.length = 0
    const missing = Y.encodeStateAsUpdate(editor.doc, Y.encodeStateVector(this.live))
    this.rescue.apply(missing, editor)
    editor.inbox.length = 0
    Y.applyUpdate(editor.doc, Y.encodeStateAsUpdate(this.live, Y.encodeStateVector(editor.doc)), network)
  }

  /** Stores the typed text, and lets the Y documents follow what programs wrote. */
  flush(): void {
    const finish = this.beginFlush()
    finish()
  }

  /** A flush whose transaction is under way. Text that is delivered before it ends belongs to the next flush. */
  beginFlush(): () => void {
    for (const update of this.#pending.splice(0)) Y.applyUpdate(this.shadow, update)
    const updates = [followInto(this.shadow, { from: this.followed, to: this.body })]
    const raw = readDocument(bodyFragment(this.shadow)).document
    this.#flushes += 1
    const { document } = repairDocument(raw, `doc@${this.#flushes}`)
    updates.push(followInto(this.shadow, { from: raw, to: document, live: asRead }))
    this.body = normalised(document)
    this.followed = this.body
    return () => {
      for (const update of updates) if (update) this.rescue.apply(update, stored)
    }
  }

  /** Everybody learns everything. */
  settle(): void {
    for (let turn = 0; turn < 3; turn++) {
      for (const editor of this.editors) this.deliver(editor)
      this.flush()
      for (const editor of this.editors) editor.receive()
    }
  }
}

/** A body that a program changes in place. */
export type WritableBody = { type: string; content: BodyNode[] }

/** A person's browser: a Y document, what it has to send, and what it has yet to read. */
export class Editor {
  readonly doc: Y.Doc
  readonly outbox: Uint8Array[] = []
  readonly inbox: Uint8Array[] = []

  constructor(state: Uint8Array) {
    this.doc = openState(state)
    this.doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== network) this.outbox.push(update)
    })
  }

  /** The body as this editor sees it. */
  get body(): DocNode {
    return normalised(readDocument(bodyFragment(this.doc)).document)
  }

  receive(): void {
    for (const update of this.inbox.splice(0)) Y.applyUpdate(this.doc, update, network)
  }

  /** The first block with an id, as this editor sees it. */
  block(id: string): Y.XmlElement {
    const found = elementsWithId(bodyFragment(this.doc), id)[0]
    if (!found) throw new Error(`The editor has no block ${id}`)
    return found
  }

  /** The text of the first text of a block. */
  text(id: string): Y.XmlText {
    return this.block(id).get(0) as Y.XmlText
  }
}

/** The block of a body with an id. Throws when the body has no such block. */
export function blockOf(body: WritableBody | DocNode, id: string): BodyNode {
  const found = blocksOf(body as BodyNode).find(({ node }) => node.attrs?.id === id)
  if (!found) throw new Error(`no block ${id}`)
  return found.node
}

/** Moves the first block of a body to its end. */
export function moveToEnd(body: WritableBody): void {
  body.content.push(...body.content.splice(0, 1))
}

/** All elements of a Y document with an id. */
export function elementsWithId(parent: Y.XmlFragment, id: string): Y.XmlElement[] {
  return parent.toArray().flatMap((child): Y.XmlElement[] => {
    if (!(child instanceof Y.XmlElement)) return []
    return [...(idOf(child) === id ? [child] : []), ...elementsWithId(child, id)]
  })
}

/** The text of a node and of everything below it. */
export function allText(node: BodyNode | DocNode): string {
  const own = 'text' in node ? (node.text ?? '') : ''
  return own + (node.content ?? []).map((child) => allText(child)).join('')
}

const stored = 'stored'
const rescued = 'rescue'
const network = 'network'
