import { createHash } from 'node:crypto'
import { Transform, type TransformCallback } from 'node:stream'
import { TextDecoder } from 'node:util'
import { Refusal } from '../errors/errors.ts'
import { isOfType, isText, sampleBytes } from './media-types.ts'

/** What a file is held against while it streams past. */
export type Expected = { contentType: string; maxBytes: number; acceptedTypes: readonly string[] }

/**
 * Lets the bytes of a file through while it measures, hashes and checks them; it holds no more than the first few
 * kilobytes. It fails with 413 `attachment_too_large` at the first byte too many, with 415 `unsupported_media_type` as
 * soon as the bytes cannot be of the type they were sent as, and with 400 when there are none.
 */
export class Inspection extends Transform {
  readonly #expected: Expected
  readonly #hash = createHash('sha256')
  readonly #decoder: TextDecoder | null
  #head: Buffer[] | null = []
  #size = 0

  constructor(expected: Expected) {
    super()
    this.#expected = expected
    this.#decoder = isText(expected.contentType) ? new TextDecoder('utf-8', { fatal: true }) : null
  }

  /** Bytes that went through. Not named `size`: the client of S3 would take that for the length of what is to come. */
  get byteCount(): number {
    return this.#size
  }

  /** The SHA-256 of all bytes in hexadecimal; once, after the end. */
  sha256(): string {
    return this.#hash.digest('hex')
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#take(chunk).then(() => done(null, chunk), done)
  }

  override _flush(done: TransformCallback): void {
    this.#end().then(() => done(), done)
  }

  async #take(chunk: Buffer): Promise<void> {
    this.#size += chunk.length
    const { maxBytes } = this.#expected
    if (this.#size > maxBytes) throw new Refusal('attachment_too_large', { details: { max_bytes: maxBytes } })
    this.#hash.update(chunk)
    this.#requireText(chunk)
    this.#head?.push(chunk)
    if (this.#size >= sampleBytes) await this.#requireType()
  }

  async #end(): Promise<void> {
    if (this.#size === 0) throw emptyFile()
    this.#requireText(null)
    await this.#requireType()
  }

  // A character may be cut in two by the borders of chunks, so the decoder keeps its state until the end (null).
  #requireText(chunk: Buffer | null): void {
    if (this.#decoder === null) return
    try {
      this.#decoder.decode(chunk ?? undefined, { stream: chunk !== null })
    } catch {
      throw this.#mismatch()
    }
    if (chunk?.includes(0)) throw this.#mismatch()
  }

  async #requireType(): Promise<void> {
    if (this.#head === null) return
    const sample = Buffer.concat(this.#head).subarray(0, sampleBytes)
    this.#head = null
    if (!(await isOfType(this.#expected.contentType, sample))) throw this.#mismatch()
  }

  #mismatch(): Refusal {
    const message = `The bytes are not those of ${this.#expected.contentType}.`
    return new Refusal('unsupported_media_type', { message, details: { accepted: [...this.#expected.acceptedTypes] } })
  }
}

/** The refusal of a file that is missing or has no bytes (decisions 4.14). */
export function emptyFile(): Refusal {
  return new Refusal('invalid_request', {
    details: { fields: [{ path: '/file', message: 'must be a file with bytes' }] },
  })
}
