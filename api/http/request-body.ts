import { isUtf8 } from 'node:buffer'
import { PassThrough, type Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import express, { type Request, type Response } from 'express'
import { emptyFile } from '../../shared/attachments/inspection.ts'
import type { Upload } from '../../shared/attachments/upload.ts'
import { Refusal, unsupportedMediaType } from '../../shared/errors/errors.ts'

// The media type that a refusal names as accepted, when the charset or encoding of a body is not supported.
const inUtf8 = ['application/json; charset=utf-8']
// Bounds of a form: the number of parts, the bytes of a field, and the number and the bytes of the headers of a part.
const formLimits = { parts: 32, fieldSize: 4096, headerPairs: 32, headerSize: 16 * 1024 }
// The bytes that a form may have beside its file: boundaries, headers and fields.
const overheadBytes = 1024 * 1024
// The milliseconds that a client has to send the rest of a refused body.
const patienceMs = 30_000

/**
 * Makes the reader of the text of a JSON body; the text of an absent body is empty. The reader must run after
 * authentication, so that no stranger makes the service read anything. Refuses with 415 `unsupported_media_type`, 413
 * `payload_too_large` or 400 `invalid_json`.
 */
export function jsonTextReader(maxBytes: number) {
  const take = express.text({ limit: maxBytes, type: () => true, verify: requireUtf8 })
  const read = (request: Request, response: Response) =>
    new Promise<void>((resolve, reject) => {
      refuseLonger(request, { maxBytes, refuse: reject })
      take(request, response, (error?: unknown) => (error ? reject(error) : resolve()))
    })
  return async (request: Request, response: Response, accepted: readonly string[]) => {
    const mediaType = mediaTypeOf(request)
    if (hasBody(request) && !accepted.includes(mediaType ?? '')) {
      throw unsupportedMediaType({ sent: mediaType, accepted })
    }
    await read(request, response).catch((error: unknown) => {
      discardRest(request)
      throw bodyRefusal(error, maxBytes)
    })
    return { text: (request.body as string | undefined) ?? '', mediaType }
  }
}

// Refuses a body as soon as it is longer than `maxBytes`. The parser itself refuses such a body only after its last
// byte has arrived, and this byte may never arrive.
function refuseLonger(request: Request, { maxBytes, refuse }: { maxBytes: number; refuse: (error: Refusal) => void }) {
  if (!hasBody(request)) return
  let bytes = 0
  const count = (more: number) => {
    bytes += more
    if (bytes > maxBytes) refuse(tooLarge(maxBytes))
  }
  if (request.headers['content-length'] === undefined) request.on('data', (chunk: Buffer) => count(chunk.length))
  else count(Number(request.headers['content-length']))
}

// Refuses JSON that is not UTF-8. Decoding would replace wrong bytes by U+FFFD, and the stored document would differ
// from what was sent.
function requireUtf8(_request: unknown, _response: unknown, bytes: Buffer, charset: string): void {
  if (!charset.startsWith('utf-')) {
    throw Object.assign(new TypeError('the charset is not supported'), { type: 'charset.unsupported', charset })
  }
  if (!isUtf8(bytes)) throw new TypeError('the body is not UTF-8')
}

function hasBody(request: Request): boolean {
  const length = request.headers['content-length']
  return request.headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

function mediaTypeOf(request: Request): string | null {
  return request.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? null
}

function bodyRefusal(error: unknown, maxBytes: number): unknown {
  if (error instanceof Refusal) return error
  const { type, status, charset, encoding } = error as ParserError
  if (type === 'entity.too.large') return tooLarge(maxBytes)
  if (type === 'charset.unsupported') {
    return unsupportedMediaType({ sent: `application/json; charset=${charset}`, accepted: inUtf8 })
  }
  if (type === 'encoding.unsupported') {
    const message = `The Content-Encoding ${encoding?.slice(0, 100)} is not supported; send gzip, deflate, br, zstd or none.`
    return new Refusal('unsupported_media_type', { message, details: { accepted: inUtf8 } })
  }
  if (typeof status !== 'number' || status >= 500) return error
  // The remaining errors are bytes that are not UTF-8, and bytes that cannot be decompressed.
  const message = `The body cannot be read: ${(error as Error).message}.`
  return new Refusal('invalid_json', { message, cause: error })
}

type ParserError = { type?: string; status?: number; charset?: string; encoding?: string }

function tooLarge(maxBytes: number): Refusal {
  return new Refusal('payload_too_large', { details: { max_bytes: maxBytes } })
}

/** The parts of a form that are read: the name of the file, the names of the fields, and the most bytes of the file. */
type FormParts = { file: string; fields: readonly string[]; maxFileBytes: number }

/**
 * Reads a multipart/form-data body as it arrives. The file goes into the upload, wherever it comes among the parts, and
 * the fields are returned as texts. Other parts are skipped. Refuses with 415 a body that is no form, and with 413 a
 * body that is much larger than the largest file. A form that breaks off, is malformed, names a part twice or has no
 * file is refused with 400. A refusal of `upload.receive` is passed on. The rest of a refused body is discarded.
 */
export async function readForm(request: Request, form: FormParts, upload: Upload): Promise<Record<string, string>> {
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

function requireLength(request: Request, form: FormParts): void {
  if (Number(request.headers['content-length'] ?? 0) > form.maxFileBytes + overheadBytes) throw fileTooLarge(form)
}

class FormReader {
  readonly #request: Request
  readonly #form: FormParts
  readonly #upload: Upload
  readonly #fields = new Map<string, string>()
  readonly #open = new Set<Readable>()
  readonly #failure = Promise.withResolvers<never>()
  #receiving: Promise<void> | null = null

  constructor(request: Request, form: FormParts, upload: Upload) {
    this.#request = request
    this.#form = form
    this.#upload = upload
  }

  async read(): Promise<Record<string, string>> {
    const fail = (error: unknown) => this.#failure.reject(formRefusal(error))
    this.#failure.promise.catch(() => {})
    try {
      await Promise.race([this.#parse(this.#parser(), fail), this.#failure.promise])
      await this.#receiving
    } catch (error) {
      for (const part of this.#open) part.destroy(formRefusal(error))
      // Waits until nothing is written to the file any more, because the file is removed next.
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
        limits: formLimits,
      })
    } catch (error) {
      throw formRefusal(error)
    }
  }

  #parse(parser: BusboyInstance, fail: (error: unknown) => void): Promise<void> {
    let bytes = 0
    this.#request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > this.#form.maxFileBytes + overheadBytes) fail(fileTooLarge(this.#form))
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
    if (isCut) throw invalidPart(name, `must have at most ${formLimits.fieldSize} bytes`)
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
    // A browser sends an empty file name for a file field that the person left empty.
    if (filename === undefined || filename === '') throw emptyFile()
    this.#receiving = this.#upload.receive({ bytes: stream, filename, contentType: mediaType })
    this.#receiving.catch(fail)
  }
}

function fileTooLarge(form: FormParts): Refusal {
  return new Refusal('attachment_too_large', { details: { max_bytes: form.maxFileBytes } })
}

function invalidPart(name: string, message: string): Refusal {
  return new Refusal('invalid_request', { details: { fields: [{ path: `/${name}`, message }] } })
}

// Every error of the parser is a mistake of the sender.
function formRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const fields = [{ path: '/', message: `must be a complete multipart/form-data body: ${(error as Error).message}` }]
  return new Refusal('invalid_request', { details: { fields }, cause: error })
}

/**
 * The body of a request as a stream that its reader may destroy early. Destroying the request itself would close the
 * connection before the answer is sent. The stream fails when the body breaks off.
 */
export function streamOfBody(request: Request): Readable {
  const body = request.pipe(new PassThrough())
  request.once('close', () => request.complete || body.destroy(new Error('the body broke off')))
  return body
}

/**
 * Discards the rest of a refused body, because many clients read the answer only after they have sent everything. After
 * half a minute the connection is cut.
 */
export function discardRest(request: Request): void {
  request.unpipe()
  request.resume()
  if (request.complete || request.destroyed) return
  const impatience = setTimeout(() => request.socket.destroy(), patienceMs).unref()
  for (const event of ['end', 'close']) request.once(event, () => clearTimeout(impatience))
}
