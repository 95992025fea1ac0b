import { createHash } from 'node:crypto'
import { Transform, type TransformCallback } from 'node:stream'
import { TextDecoder } from 'node:util'
import { Refusal } from '../errors/errors.ts'
import { isOfType, isText, sampleBytes } from './media-types.ts'

/** The media type and the limits that a file must keep to. */
export type Expected = { contentType: string; maxBytes: number; acceptedTypes: readonly string[] }

/**
 * A stream that lets the bytes of a file through and measures, hashes and checks them on the way. The stream keeps only
 * the first few kilobytes in memory. The stream fails with 413 `attachment_too_large` at the first byte too many. It
 * fails with 415 `unsupported_media_type` as soon as the bytes cannot be of the declared type. An empty file fails with
 * 400.
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

  /**
   * Bytes that went through. The name is not `size`, since the S3 client takes a property `size` for the length of the
   * whole stream.
   */
  get byteCount(): number {
    return this.#size
  }

  /** The SHA-256 of all bytes in hexadecimal. The hash can be read only once, after the end of the stream. */
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

  // A character may begin in one chunk and end in the next, so the decoder keeps its state. A null chunk announces the
  // end of the file.
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

/** The 400 for a file that is missing or has no bytes. */
export function emptyFile(): Refusal {
  return new Refusal('invalid_request', {
    details: { fields: [{ path: '/file', message: 'must be a file with bytes' }] },
  })
}
