/** The largest frame that is relayed, in bytes. Larger updates reach other processes through the log alone. */
export const largestFrame = 5 * 1024 * 1024

// PostgreSQL allows payloads of less than 8,000 bytes. The header before the piece takes at most 60 bytes.
const pieceCharacters = 7900
const mostPieces = Math.ceil(((largestFrame + 1024) * 4) / 3 / pieceCharacters)
// After so many calls of `age`, a message whose remaining chunks did not come is forgotten.
const patience = 2
const mostSenders = 1000

const chunkPattern = /^([0-9a-f]{16}) (\d{1,16}) (\d{1,5})\/(\d{1,5}) ([A-Za-z0-9+/=]*)$/

/**
 * Cuts a message into payloads of notifications, in base64. `from` is the id of the sending process: 16 hexadecimal
 * digits. `number` differs for each message of this process.
 */
export function cutMessage({ from, number, bytes }: { from: string; number: number; bytes: Uint8Array }): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  const count = Math.max(1, Math.ceil(text.length / pieceCharacters))
  return Array.from({ length: count }, (_, index) => {
    const piece = text.slice(index * pieceCharacters, (index + 1) * pieceCharacters)
    return `${from} ${number} ${index}/${count} ${piece}`
  })
}

/** A message that has arrived completely. */
export type ArrivedMessage = { from: string; bytes: Uint8Array }

type Partial = { number: string; count: string; pieces: string[]; age: number }

/**
 * Puts the chunks of messages together. A sender sends the chunks of a message in order, and one message after the
 * other. So at most one message of each sender is incomplete. A message with a missing chunk is dropped as a whole.
 */
export class Reassembly {
  readonly #partials = new Map<string, Partial>()
  readonly #onDropped: (chunks: number) => void

  /** `onDropped` is told how many chunks were dropped. They were malformed, or their message stayed incomplete. */
  constructor(onDropped: (chunks: number) => void) {
    this.#onDropped = onDropped
  }

  /** Takes the payload of a notification. Returns the message that it completes, or null. */
  add(payload: string): ArrivedMessage | null {
    const [, from = '', number = '', index = '', count = '', piece = ''] = chunkPattern.exec(payload) ?? []
    if (from === '' || Number(count) > mostPieces || piece.length > pieceCharacters) return this.#drop(1)
    const partial = index === '0' ? this.#begin(from, { number, count }) : this.#partials.get(from)
    if (partial === undefined) return this.#drop(1)
    if (partial.number !== number || partial.count !== count || partial.pieces.length !== Number(index)) {
      return this.#drop(1 + this.#forget(from))
    }
    partial.pieces.push(piece)
    if (partial.pieces.length < Number(count)) return null
    this.#partials.delete(from)
    return { from, bytes: Buffer.from(partial.pieces.join(''), 'base64') }
  }

  /** Forgets messages that have been incomplete for long. To be called at an interval of some seconds. */
  age(): void {
    for (const [from, partial] of this.#partials) {
      partial.age += 1
      if (partial.age > patience) this.#onDropped(this.#forget(from))
    }
  }

  #begin(from: string, message: { number: string; count: string }): Partial {
    const lost = this.#forget(from)
    if (lost > 0) this.#onDropped(lost)
    const [oldest] = this.#partials.keys()
    if (this.#partials.size >= mostSenders && oldest !== undefined) this.#onDropped(this.#forget(oldest))
    const partial = { ...message, pieces: [], age: 0 }
    this.#partials.set(from, partial)
    return partial
  }

  // Returns how many chunks were forgotten.
  #forget(from: string): number {
    const chunks = this.#partials.get(from)?.pieces.length ?? 0
    this.#partials.delete(from)
    return chunks
  }

  #drop(chunks: number): null {
    this.#onDropped(chunks)
    return null
  }
}
