import { cutMessage, largestFrame } from './chunks.ts'
import type { Notification } from './queries.ts'
import { encodeFrame, type Frame } from './wire.ts'

/** Frames for the processes with these ids. */
export type Letter = { to: readonly string[]; frames: readonly Frame[] }

/** The channel on which all collab processes listen. */
export const commonChannel = 'svc_collab'

/** The channel on which only this process listens. */
export const privateChannel = (process: string): string => `svc_collab_${process}`

// What is typed within this time, in milliseconds, travels together.
const batchMs = 20
// Frames for the same process travel in one message up to this size, in bytes.
const messageBytes = 256 * 1024

type Options = {
  /** The id of this process. */
  id: string
  /** Returns the letters of the open rooms, when they are about to be sent. */
  collect: () => Letter[]
  /** Sends notifications in one statement. Rejects when they may not have been sent. */
  notify: (notifications: readonly Notification[]) => Promise<void>
  /** Is told the size of each message that was sent. */
  onSent: (bytes: number) => void
  onError: (error: unknown) => void
}

/**
 * What this process tells others: everything that waits goes out in one statement, and one statement is under way at a
 * time. What is lost, because the statement failed, is not sent again: the greetings that follow make up for it.
 */
export class Outbox {
  readonly #options: Options
  #announcements: Frame[] = []
  #letters: Letter[] = []
  #messages = 0
  #timer: NodeJS.Timeout | undefined
  #sending: Promise<void> | undefined
  #isWaiting = false
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
  }

  /** Tells all processes. */
  announce(frame: Frame): void {
    this.#announcements.push(frame)
    this.wake()
  }

  /** Tells some processes. */
  write(...letters: readonly Letter[]): void {
    this.#letters.push(...letters)
    this.wake()
  }

  /** Forgets what waits. */
  clear(): void {
    this.#announcements = []
    this.#letters = []
  }

  /** There is something to send. It goes out after `batchMs`, or when the statement that is under way has ended. */
  wake(): void {
    this.#isWaiting = true
    if (this.#isClosed || this.#sending !== undefined) return
    this.#timer ??= setTimeout(() => this.#start(), batchMs)
  }

  /** Sends what waits now, and nothing afterwards. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#sending
    clearTimeout(this.#timer)
    if (this.#isWaiting) await this.#send()
  }

  #start(): void {
    this.#timer = undefined
    this.#sending = this.#send().finally(() => {
      this.#sending = undefined
      if (this.#isWaiting) this.wake()
    })
  }

  async #send(): Promise<void> {
    this.#isWaiting = false
    try {
      const messages = this.#messagesOf([...this.#letters, ...this.#options.collect()])
      if (messages.length === 0) return
      await this.#options.notify(messages.flatMap(({ notifications }) => notifications))
      for (const { bytes } of messages) this.#options.onSent(bytes)
    } catch (error) {
      this.#options.onError(error)
    }
  }

  #messagesOf(letters: readonly Letter[]) {
    const byChannel = new Map<string, Uint8Array[]>()
    const add = (channels: readonly string[], frames: readonly Frame[]) => {
      const encoded = frames.map(encodeFrame).filter(({ length }) => length <= largestFrame)
      for (const channel of channels) {
        const waiting = byChannel.get(channel)
        if (waiting === undefined) byChannel.set(channel, [...encoded])
        else waiting.push(...encoded)
      }
    }
    // The letters go first: the last words about a document come before the word that it was closed.
    for (const { to, frames } of letters) add(to.map(privateChannel), frames)
    add([commonChannel], this.#announcements)
    this.clear()
    return [...byChannel].flatMap(([channel, frames]) =>
      packed(frames).map((bytes) => ({ bytes: bytes.length, notifications: this.#notifications(channel, bytes) })),
    )
  }

  #notifications(channel: string, bytes: Uint8Array): Notification[] {
    this.#messages += 1
    const chunks = cutMessage({ from: this.#options.id, number: this.#messages, bytes })
    return chunks.map((payload) => ({ channel, payload }))
  }
}

// Puts frames into as few messages as their size allows. A large frame is a message of its own.
function packed(frames: readonly Uint8Array[]): Uint8Array[] {
  const messages: Uint8Array[][] = []
  let size = Number.POSITIVE_INFINITY
  for (const frame of frames) {
    size += frame.length
    if (size > messageBytes) {
      messages.push([])
      size = frame.length
    }
    messages.at(-1)?.push(frame)
  }
  return messages.map((message) => Buffer.concat(message))
}
