import { HocuspocusProvider, HocuspocusProviderWebsocket } from '@hocuspocus/provider'
import WebSocket from 'ws'
import * as Y from 'yjs'
import { bodyFragment } from '../../shared/body/yjs/encoding.ts'
import type { Characters, Keystroke, Ledger, Removal } from './ledger.ts'
import { type Doing, placeOf, recordReplica } from './recorder.ts'

/** Where a tab connects, and to what. */
export type TabOptions = { url: string; token: string; document: string; by: string; ledger: Ledger }

// The provider stops listening before it closes a socket that is still connecting. In a browser that is no error, but
// `ws` then emits an error without a listener, which would end the process.
class BrowserSocket extends WebSocket {
  constructor(...words: ConstructorParameters<typeof WebSocket>) {
    super(...words)
    this.on('error', () => {})
  }
}

/** A browser tab with one document: a stock provider of Hocuspocus, and a ledger of what is done in it. */
export class Tab {
  readonly doc = new Y.Doc()
  readonly by: string
  readonly undo: Y.UndoManager
  /** Reasons why the server refused the tab or said that text is unsaved. */
  readonly refusals: string[] = []
  readonly #ledger: Ledger
  readonly #doing: Doing
  readonly #socket: HocuspocusProviderWebsocket
  readonly #provider: HocuspocusProvider
  readonly #unsaved = new Set<Keystroke>()
  /** Own removals that may not be stored yet, of the first so many removals of the ledger. */
  readonly #unstored = new Set<Removal>()
  #removalsSeen = 0
  /** What follows when the connection has been closed. */
  #closed = () => {}

  constructor({ url, token, document, by, ledger }: TabOptions) {
    this.by = by
    this.#ledger = ledger
    this.#doing = { by, action: 'opens', typing: null, isOnline: () => this.#isOnline }
    recordReplica(this.doc, { ledger, doing: this.#doing })
    this.undo = new Y.UndoManager(bodyFragment(this.doc), { trackedOrigins: new Set([this]), captureTimeout: 300 })
    // The delays are shorter than a browser's, so that more happens within the minutes of a run.
    const delays = { delay: 200, minDelay: 200, maxDelay: 1500 }
    this.#socket = new HocuspocusProviderWebsocket({ url, WebSocketPolyfill: BrowserSocket, ...delays })
    this.#provider = new HocuspocusProvider({
      websocketProvider: this.#socket,
      name: document,
      document: this.doc,
      token,
      onStateless: ({ payload }) => this.#hear(JSON.parse(payload)),
      onAuthenticationFailed: ({ reason }) => this.refusals.push(reason),
    })
    this.#socket.on('disconnect', () => {
      this.#closed()
      this.#closed = () => {}
    })
    this.#provider.attach()
  }

  /** Whether the server has shown the document, and has received everything that was done here. */
  get isLevel(): boolean {
    return this.#provider.synced && this.#provider.unsyncedChanges === 0
  }

  // The members are read late, since the recorder exists before the provider.
  get #isOnline(): boolean {
    return this.isOpen && this.#socket.status === 'connected'
  }

  /** The state of the connection, for a person who looks for a cause. */
  get state(): string {
    const { synced, unsyncedChanges, isAuthenticated } = this.#provider
    const known = { status: this.#socket.status, isAuthenticated, synced, unsyncedChanges }
    return [JSON.stringify(known), ...new Set(this.refusals)].join(', ')
  }

  /** Whether the tab has been shown the document. */
  get isOpen(): boolean {
    return this.#provider.synced
  }

  /** The keystrokes that the tab was not told to be stored. */
  get unsaved(): ReadonlySet<Keystroke> {
    return this.#unsaved
  }

  /** Runs an edit as one transaction, as an editor does. */
  edit(action: string, work: () => void): void {
    this.#doing.action = action
    this.doc.transact(work, this)
  }

  /** Takes back the last own edit, or does it again. */
  takeBack(way: 'undo' | 'redo'): void {
    this.#doing.action = way
    this.undo[way]()
  }

  /** Types one character at an offset of a text. */
  press(text: Y.XmlText, { offset, characters }: { offset: number; characters: Characters }): void {
    const character = characters.next()
    const place = placeOf(text)
    const state = { isOnline: this.#isOnline, clock: null, savedAt: null }
    const keystroke = { character, by: this.by, at: Date.now(), ...place, ...state }
    this.#ledger.keystrokes.set(character, keystroke)
    this.#doing.typing = character
    this.edit('types', () => text.insert(offset, character))
    this.#doing.typing = null
    const client = this.doc.clientID
    const typed: Keystroke = Object.assign(keystroke, { clock: { client, clock: Y.getState(this.doc.store, client) } })
    this.#unsaved.add(typed)
    this.#provider.setAwarenessField('cursor', { anchor: offset, head: offset })
  }

  goOffline(): void {
    this.#socket.disconnect()
  }

  /** Connects again. The provider ignores `connect` while it closes its old connection, so the tab waits until then. */
  goOnline(): void {
    if (this.#socket.status === 'disconnected') void this.#socket.connect()
    else this.#closed = () => void this.#socket.connect()
  }

  /** Closes the tab at once. What was not sent is gone with it. */
  close(): void {
    this.#provider.destroy()
    this.#socket.destroy()
    this.doc.destroy()
  }

  #hear(message: { type: string; [member: string]: unknown }): void {
    const at = Date.now()
    if (message.type === 'saved') {
      const { version, complete, state_vector } = message as unknown as SavedMessage
      this.#ledger.saves.push({ to: this.by, at, version, complete })
      this.#confirm(Y.decodeStateVector(Buffer.from(state_vector, 'base64')), at)
    } else if (message.type === 'lost_text') {
      const { block_id, text } = message as unknown as { block_id: string | null; text: string }
      this.#ledger.lost.push({ to: this.by, at, block: block_id, text })
    } else if (message.type === 'unsaved') this.refusals.push(`unsaved: ${message['reason']}`)
  }

  #confirm(vector: ReadonlyMap<number, number>, at: number): void {
    for (const keystroke of this.#unsaved) {
      const { clock } = keystroke
      if (clock === null || (vector.get(clock.client) ?? 0) < clock.clock) continue
      keystroke.savedAt = at
      this.#ledger.latencies.saved.push(at - keystroke.at)
      this.#unsaved.delete(keystroke)
    }
    const { removals } = this.#ledger
    for (; this.#removalsSeen < removals.length; this.#removalsSeen += 1) {
      const removal = removals[this.#removalsSeen]
      if (removal?.by === this.by) this.#unstored.add(removal)
    }
    for (const removal of this.#unstored) {
      if ((vector.get(removal.clock.client) ?? 0) <= removal.clock.clock) continue
      removal.storedAt = at
      this.#unstored.delete(removal)
    }
  }
}

type SavedMessage = { version: string; complete: boolean; state_vector: string }
