import { isUtf8 } from 'node:buffer'
import express, { type Request, type Response } from 'express'
import { type TObject, Type } from 'typebox'
import type { Upload } from '../../shared/attachments/upload.ts'
import { Refusal, unsupportedMediaType } from '../../shared/errors/errors.ts'
import { fingerprintOf } from './idempotency.ts'
import { bodyReader } from './input.ts'
import { discardRest, readForm } from './request-body.ts'
import type { Route } from './route.ts'
import type { ReadBody, Service } from './service.ts'

// The media type that a refusal names as accepted, when the charset or encoding of a body is not supported.
const inUtf8 = ['application/json; charset=utf-8']

// The largest JSON body of an endpoint that needs no token, in bytes.
const openBodyMaxBytes = 16_384

/** The body of a write, read and decoded, with the media type that it came in. */
type Payload = ReadBody & { mediaType: string | null }

/** Where the body of a call comes from: the bytes of a request, or JSON text that another part of the process made. */
export type BodySource = { request: Request; response: Response } | { text: string }

/** The query of a call with an Idempotency-Key is `keyed`; without a key it is null. */
type Incoming = { source: BodySource; upload: Upload | null; keyed: URLSearchParams | null }

/** Makes the reader of a write's body: a form where the route declares one, otherwise JSON. */
export function payloadReader(service: Service, spec: Route): (incoming: Incoming) => Promise<Payload> {
  return spec.multipart === undefined ? jsonReader(service, spec) : formReader(service, spec, spec.multipart)
}

function jsonReader({ config, readJson }: Service, spec: Route) {
  const { operationId } = spec
  const maxBytes = spec.access === 'anyone' ? Math.min(config.BODY_MAX_BYTES, openBodyMaxBytes) : config.BODY_MAX_BYTES
  const readText = jsonTextReader(maxBytes)
  const accepted = ['application/json', ...(spec.mediaTypes ?? [])]
  const received = ({ request, response }: { request: Request; response: Response }) =>
    readText(request, response, accepted)
  return async ({ source, keyed }: Incoming): Promise<Payload> => {
    const { text, mediaType } = 'text' in source ? { ...source, mediaType: 'application/json' } : await received(source)
    return { mediaType, ...(await readJson({ operationId, text, query: keyed && [...keyed.entries()] })) }
  }
}

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
  if (charset !== 'utf-8' && charset !== 'utf8') {
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

function formReader({ config }: Service, spec: Route, { file }: { file: string }) {
  const { ATTACHMENT_MAX_BYTES: maxFileBytes } = config
  const fields = Object.keys((spec.body as TObject | undefined)?.properties ?? {})
  const read = bodyReader(spec.body ?? Type.Object({}))
  return async ({ source, upload, keyed }: Incoming): Promise<Payload> => {
    if (upload === null || 'text' in source) throw new TypeError('a form is read from a request into an upload')
    const form = await readForm(source.request, { file, fields, maxFileBytes }, upload)
    const fingerprint = keyed && fingerprintOf(fingerprinted(form, upload), keyed)
    return { body: read(form) as object, mediaType: 'multipart/form-data', fingerprint }
  }
}

// Returns what the digest of a form is made of: its fields, and the name, type and digest of its file. The bytes of a
// form would not do, because each repetition has another boundary between its parts.
function fingerprinted(body: object, upload: Upload | null): object {
  if (upload?.received == null) return body
  const { filename, contentType, sha256 } = upload.received
  return { ...body, file: { filename, contentType, sha256 } }
}

/**
 * Removes a received file that no attachment has claimed, because the request failed or repeats an earlier request.
 * When the removal fails, the failure is only logged: the sweep of orphaned uploads removes the file later.
 */
export async function releaseUpload(service: Service, upload: Upload | null): Promise<void> {
  await upload?.release().catch((err) => service.log.warn({ err }, 'a received file is left to the sweep'))
}
