import type { Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import type { Request } from 'express'
import { emptyFile } from '../../shared/attachments/inspection.ts'
import type { Upload } from '../../shared/attachments/upload.ts'
import { Refusal, unsupportedMediaType } from '../../shared/errors/errors.ts'
import { discardRest } from './discard-rest.ts'

/** What of a form is wanted: the name of the part that is a file, and those of its fields. */
export type Form = { file: string; fields: readonly string[]; maxFileBytes: number }

/**
 * Reads a multipart/form-data body as it arrives: the file goes into the upload, wherever among the parts it stands, and
 * the fields come back as texts. Parts that nobody asked for are skipped. Refuses with 415 what is no form, with 413 a
 * body that is much larger than the largest file, with 400 one that breaks off, is malformed, names a part twice or has
 * no file; and with whatever the upload refuses. The rest of a refused body is thrown away, so that the caller can send
 * to the end and read the answer, but only for so long.
 */
export async function readForm(request: Request, form: Form, upload: Upload): Promise<Record<string, string>> {
  const mediaType = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (mediaType !== 'multipart/form-data') {
    throw unsupportedMediaType({ sent: mediaType, accepted: ['multipart/form-data'] })
  }
  try {
    requireLength(request, form)
    const fields = await new FormReader(request, form, upload).read()
    if (upload.received === null) throw emptyFile()
    return fields
  } catch (error) {
    discardRest(request)
    throw error
  }
}

// Boundaries, headers and fields beside the file.
const overheadBytes = 1024 * 1024

function requireLength(request: Request, form: Form): void {
  if (Number(request.headers['content-length'] ?? 0) > form.maxFileBytes + overheadBytes) throw tooLarge(form)
}

class FormReader {
  readonly #request: Request
  readonly #form: Form
  readonly #upload: Upload
  readonly #fields = new Map<string, string>()
  readonly #open = new Set<Readable>()
  readonly #failure = Promise.withResolvers<never>()
  #receiving: Promise<void> | null = null

  constructor(request: Request, form: Form, upload: Upload) {
    this.#request = request
    this.#form = form
    this.#upload = upload
  }

  async read(): Promise<Record<string, string>> {
    const fail = (error: unknown) => this.#failure.reject(asRefusal(error))
    this.#failure.promise.catch(() => {})
    try {
      await Promise.race([this.#parse(this.#parser(), fail), this.#failure.promise])
      await this.#receiving
    } catch (error) {
      for (const part of this.#open) part.destroy(asRefusal(error))
      // Nothing may be written any more when the file is removed.
      await this.#receiving?.catch(() => {})
      throw error
    }
    return Object.fromEntries(this.#fields)
  }

  #parser(): BusboyInstance {
    const { headers } = this.#request
    try {
      return new Busboy({
        headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
        preservePath: true,
        limits,
      })
    } catch (error) {
      throw asRefusal(error)
    }
  }

  #parse(parser: BusboyInstance, fail: (error: unknown) => void): Promise<void> {
    let bytes = 0
    this.#request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > this.#form.maxFileBytes + overheadBytes) fail(tooLarge(this.#form))
    })
    this.#request.once('error', fail)
    this.#request.once('close', () => this.#request.complete || fail(new Error('it broke off')))
    parser.on('error', fail)
    parser.on('partsLimit', () => fail(new Error('it has too many parts')))
    parser.on('field', (name, value, _, isCut) => this.#guard(fail, () => this.#takeField(name, { value, isCut })))
    parser.on('file', (name, stream, filename, _, mediaType) =>
      this.#guard(fail, () => this.#takeFile(name, { stream, filename, mediaType }, fail)),
    )
    return new Promise((resolve) => {
      parser.once('finish', resolve)
      this.#request.pipe(parser)
    })
  }

  #guard(fail: (error: unknown) => void, work: () => void): void {
    try {
      work()
    } catch (error) {
      fail(error)
    }
  }

  #takeField(name: string, { value, isCut }: { value: string; isCut: boolean }): void {
    if (name === this.#form.file) throw emptyFile()
    if (!this.#form.fields.includes(name)) return
    if (this.#fields.has(name)) throw invalidPart(name, 'must not be repeated')
    if (isCut) throw invalidPart(name, `must have at most ${limits.fieldSize} bytes`)
    this.#fields.set(name, value)
  }

  #takeFile(
    name: string,
    part: { stream: Readable; filename: string | undefined; mediaType: string },
    fail: (error: unknown) => void,
  ): void {
    const { stream, filename, mediaType } = part
    this.#open.add(stream)
    stream.on('error', () => {})
    stream.once('close', () => this.#open.delete(stream))
    if (name !== this.#form.file) {
      stream.resume()
      return
    }
    if (this.#receiving !== null) throw invalidPart(name, 'must not be repeated')
    // What a browser sends for a file field that was left empty.
    if (filename === undefined || filename === '') throw emptyFile()
    this.#receiving = this.#upload.receive({ bytes: stream, filename, contentType: mediaType })
    this.#receiving.catch(fail)
  }
}

const limits = { parts: 32, fieldSize: 4096, headerPairs: 32, headerSize: 16 * 1024 }

function tooLarge(form: Form): Refusal {
  return new Refusal('attachment_too_large', { details: { max_bytes: form.maxFileBytes } })
}

function invalidPart(name: string, message: string): Refusal {
  return new Refusal('invalid_request', { details: { fields: [{ path: `/${name}`, message }] } })
}

// Whatever the parser says: the sender is to mend it.
function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const fields = [{ path: '/', message: `must be a complete multipart/form-data body: ${(error as Error).message}` }]
  return new Refusal('invalid_request', { details: { fields }, cause: error })
}
