import { PassThrough, type Readable } from 'node:stream'
import { Busboy, type BusboyInstance } from '@fastify/busboy'
import type { Request } from 'express'
import { emptyFile } from '../../shared/attachments/inspection.ts'
import type { Upload } from '../../shared/attachments/upload.ts'
import { Refusal, unsupportedMediaType } from '../../shared/errors/errors.ts'

// Bounds of a form: the number of parts, the bytes of a field, and the number and the bytes of the headers of a part.
const formLimits = { parts: 32, fieldSize: 4096, headerPairs: 32, headerSize: 16 * 1024 }
// The bytes that a form may have beside its file: boundaries, headers and fields.
const overheadBytes = 1024 * 1024
// The milliseconds that a client has to send the rest of a refused body.
const patienceMs = 30_000

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
