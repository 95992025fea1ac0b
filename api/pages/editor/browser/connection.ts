import { HocuspocusProvider } from '@hocuspocus/provider'
import { fromBase64 } from 'lib0/buffer'
import { type Doc, decodeStateVector, encodeStateVector } from 'yjs'
import { storedEvent } from '../../panels/browser/stored.ts'
import type { LocalCopy } from './local-copy.ts'
import type { PageData } from './page-data.ts'
import {
  forgetRefusedText,
  keepRefusedText,
  keptRefusedText,
  type RefusedText,
  unsavedText,
  watchRefusals,
} from './refused-changes.ts'
import { closingWords, refusalWords, type SaveFacts, saveStateOf } from './save-state.ts'
import type { StatusLine } from './status-line.ts'
import { requestTicket, TicketRefusal } from './tickets.ts'
import { noteUnsent } from './unsent-cookie.ts'

/** What the service tells all editors of a document, see `api/collab/save-status.ts`. */
type ServiceMessage =
  | { type: 'saved'; complete: boolean; state_vector: string }
  | { type: 'unsaved'; reason: string; block_id?: string | null; text?: string }
  | { type: 'lost_text'; text: string }

type Parts = { live: Doc; page: PageData; copy: LocalCopy | null; line: StatusLine }

/** The connection of the page to live editing. It tells the user whether the text is stored. */
export class Connection {
  readonly provider: HocuspocusProvider
  /** Is called when the right to write comes or goes. */
  onWriting: (writing: boolean) => void = () => {}
  readonly #parts: Parts
  #facts: SaveFacts
  #refusedTicket: TicketRefusal | null = null
  #pause = 0
  /** Whether this page has sent, or will send, something that was typed here. */
  #hasWritten: boolean
  /** The Yjs clients whose text this page sends, each with the number of its insertions that are stored. */
  #own: Map<number, number>
  #isNotedUnsent = false

  constructor(parts: Parts) {
    const { live, page, copy } = parts
    this.#parts = parts
    this.#own = new Map([[live.clientID, 0], ...(copy?.unsaved ?? [])])
    this.#facts = {
      connection: 'opening',
      writing: page.mayWrite,
      unsaved: copy !== null && copy.unsaved.size > 0,
      refusal: null,
      longest: null,
      copy: copy === null ? 'none' : 'current',
    }
    this.#hasWritten = this.#facts.unsaved
    this.provider = new HocuspocusProvider({
      url: page.collaborationUrl,
      name: page.documentId,
      document: live,
      token: () => this.#ticket(),
      onAuthenticated: ({ scope }) => this.#update({ writing: scope !== 'readonly' }),
      onAuthenticationFailed: ({ reason }) => this.#onDenied(reason),
      onSynced: () => this.#update({ connection: 'open' }),
      onDisconnect: () => this.#update({ connection: 'lost' }),
      onClose: ({ event }) => this.#onClosed(event.reason),
      onStateless: ({ payload }) => this.#onMessage(JSON.parse(payload) as ServiceMessage),
    })
    live.on('update', (_update: Uint8Array, origin: unknown) => {
      if (origin !== this.provider && !copy?.isSource(origin)) this.#onTyped()
    })
    addEventListener('online', () => void this.provider.connect())
    addEventListener('offline', () => this.#cut())
    addEventListener('beforeunload', (event) => {
      if (this.#facts.unsaved && this.#facts.copy !== 'current') event.preventDefault()
    })
    void copy?.ended.then(() => this.#update({ copy: 'none' }))
    watchRefusals(this.provider, {
      isConcerned: () => this.#hasWritten,
      onRefused: (text) => void this.#onRefused({ reason: 'forbidden', text }),
    })
    this.#showRefused(keptRefusedText(page.documentId))
    this.#update({})
  }

  /** Whether the user may write now. */
  get writing(): boolean {
    return this.#facts.writing
  }

  /** Resolves when the document is there, from the copy of this browser or from the service. */
  async hasContent(): Promise<void> {
    const isEmpty = this.#parts.live.getXmlFragment('default').length === 0
    if (isEmpty) await new Promise((resolve) => this.provider.on('synced', resolve))
  }

  // A socket notices only after half a minute that the network is gone. The page goes on trying at once, because a
  // service on the same device can still be reached.
  #cut(): void {
    const socket = this.provider.configuration.websocketProvider
    if (this.#facts.connection === 'open') socket['emit']('close', { event: { code: 4408, reason: 'offline' } })
  }

  // The copy is asked after a pause in typing, so that the words for the user do not change with each key.
  #onTyped(): void {
    const { copy } = this.#parts
    this.#hasWritten = true
    this.#update({ unsaved: true, ...(this.#facts.copy !== 'none' && { copy: 'behind' }) })
    clearTimeout(this.#pause)
    this.#pause = window.setTimeout(async () => {
      const pause = this.#pause
      const hasAll = await copy?.hasAll()
      if (hasAll && pause === this.#pause) this.#update({ copy: 'current' })
    }, pauseMs)
  }

  async #ticket(): Promise<string> {
    try {
      return await requestTicket(this.#parts.page)
    } catch (error) {
      if (error instanceof TicketRefusal) this.#refusedTicket = error
      throw error
    }
  }

  // The provider reports a missing ticket as a denial, too. Without a refusal the service was only out of reach. The
  // socket is then closed after some seconds, and the provider connects again.
  #onDenied(reason: string): void {
    if (this.#refusedTicket !== null) this.#end(this.#refusedTicket.reason)
    else if (!reason.startsWith('Failed to get token')) this.#end(reason)
  }

  #onMessage(message: ServiceMessage): void {
    if (message.type === 'saved') this.#onSaved(message.state_vector)
    if (message.type === 'unsaved') {
      const { reason, block_id: id = null, text } = message
      this.#update({ refusal: reason, longest: text === undefined ? null : { id, text } })
    }
    if (message.type === 'lost_text') {
      this.#parts.line.warn('Somebody has removed the place of this text, which you typed at the same time:', {
        quote: message.text,
      })
    }
    const isAll = message.type === 'saved' && message.complete && !this.provider.hasUnsyncedChanges
    const { clientID } = this.#parts.live
    const isStored = (this.#own.get(clientID) ?? 0) >= (this.#vector.get(clientID) ?? 0)
    if (!isAll || !isStored) return
    this.#own = new Map([[clientID, this.#own.get(clientID) ?? 0]])
    this.#update({ unsaved: false, refusal: null, longest: null })
  }

  #onSaved(stateVector: string): void {
    const vector = decodeStateVector(fromBase64(stateVector))
    for (const [client, stored] of this.#own) this.#own.set(client, Math.max(stored, vector.get(client) ?? 0))
    document.dispatchEvent(new Event(storedEvent))
  }

  // How many insertions each client has made that this page knows.
  get #vector(): Map<number, number> {
    return decodeStateVector(encodeStateVector(this.#parts.live))
  }

  /** The text that this browser has typed and that is not known to be stored. */
  get #unsavedText(): string {
    if (!this.#facts.unsaved) return ''
    return unsavedText(this.#parts.live, this.#own)
  }

  #onClosed(reason: string): void {
    if (reason === 'document_replaced') void this.#onReplaced()
    else if (finalReasons.has(reason)) this.#end(reason)
  }

  // The service would merge the text of this page with the document that took its place, and every block would be there
  // twice. So the page comes anew with the document of the service.
  async #onReplaced(): Promise<void> {
    const refused: RefusedText = { reason: 'document_replaced', text: this.#unsavedText }
    this.provider.destroy()
    this.#update({ writing: false, connection: 'closed', copy: 'none' })
    if (keepRefusedText(this.#parts.page.documentId, refused)) await this.#comeAnew()
    else this.#showRefused(refused)
  }

  // Nobody else has the refused changes, so the page comes anew without them. A second refusal is only told.
  async #onRefused(refused: RefusedText): Promise<void> {
    if (!keepRefusedText(this.#parts.page.documentId, refused)) return this.#showRefused(refused)
    this.provider.destroy()
    await this.#comeAnew()
  }

  async #comeAnew(): Promise<void> {
    await this.#parts.copy?.remove()
    this.#update({ unsaved: false })
    location.reload()
  }

  #showRefused(refused: RefusedText | null): void {
    if (refused === null) return
    this.#parts.line.warn(refusalWords(refused), {
      quote: refused.text,
      onDismiss: () => forgetRefusedText(this.#parts.page.documentId),
    })
  }

  #update(changes: Partial<SaveFacts>): void {
    const before = this.#facts
    this.#facts = { ...before, ...changes }
    this.#parts.line.show(saveStateOf(this.#facts))
    if (before.writing !== this.#facts.writing) this.onWriting(this.#facts.writing)
    if (before.unsaved !== this.#facts.unsaved) this.#parts.copy?.noteUnsaved(this.#facts.unsaved ? this.#own : null)
    this.#noteUnsent()
  }

  // While the connection is open, what is typed is sent at once. Without it, this browser alone has the text.
  #noteUnsent(): void {
    const { unsaved, copy, connection } = this.#facts
    const isKept = unsaved && copy !== 'none'
    const isUnsent = isKept && (connection !== 'open' || this.#isNotedUnsent)
    if (isUnsent !== this.#isNotedUnsent) noteUnsent(this.#parts.page, isUnsent)
    this.#isNotedUnsent = isUnsent
  }

  // The copy of this browser goes with the right to read. Other reasons end this page only: other tabs use the copy.
  #end(reason: string): void {
    const isRemoved = reason === 'document_not_found'
    this.provider.destroy()
    this.#update({ writing: false, connection: 'closed', ...(isRemoved && { copy: 'none' }) })
    const { line, copy } = this.#parts
    const unsaved = this.#unsavedText
    const words = closingWords(reason)
    if (unsaved === '') line.warn(words)
    else line.warn(`${words} This text of yours was not saved:`, { quote: unsaved })
    if (isRemoved) void copy?.remove()
  }
}

// The pause in typing, in milliseconds, after which the copy is asked whether it has everything.
const pauseMs = 200

// After these reasons the service lets nobody in again, so the page stops asking.
const finalReasons = new Set(['invalid_token', 'document_not_found', 'too_many_connections'])
