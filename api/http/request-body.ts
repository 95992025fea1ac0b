import { isUtf8 } from 'node:buffer'
import express, { type Request, type Response } from 'express'
import { Refusal, unsupportedMediaType } from '../../shared/errors/errors.ts'
import { describeBrokenJson } from './broken-json.ts'
import { discardRest } from './discard-rest.ts'
import { kindOf } from './expectations.ts'

/**
 * Makes the step that reads a JSON body: after authentication, never before, so that nobody unknown makes the service
 * parse anything (decisions 2.0, check order). A body that is absent counts as `{}`.
 */
export function jsonBodyReader(maxBytes: number) {
  const parse = express.json({ limit: maxBytes, strict: false, type: () => true, verify: requireUtf8 })
  const read = (request: Request, response: Response) =>
    new Promise<void>((resolve, reject) => {
      refuseLonger(request, { maxBytes, refuse: reject })
      parse(request, response, (error?: unknown) => (error ? reject(error) : resolve()))
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
    const body: unknown = request.body === undefined ? {} : request.body
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new Refusal('invalid_json', { message: `The body must be a JSON object, not ${kindOf(body)}.` })
    }
    if (isDeeperThan(maxDepth, body)) {
      const fields = [{ path: '/', message: `must not be nested deeper than ${maxDepth} levels` }]
      throw new Refusal('invalid_request', { details: { fields } })
    }
    return { body, mediaType }
  }
}

// The parser answers only once the last byte of what it refuses has arrived, and that may be never.
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

// Decoding would put U+FFFD in place of what is no UTF-8, and the document would not hold what was sent.
function requireUtf8(_request: unknown, _response: unknown, bytes: Buffer): void {
  if (!isUtf8(bytes)) throw new TypeError('the body is not UTF-8')
}

// Validation, decoding and serialising recurse; from some 2500 levels on they exhaust the stack. The deepest valid body
// has less than a hundred.
const maxDepth = 1000

function isDeeperThan(limit: number, value: object): boolean {
  let level = [value]
  for (let depth = 0; depth < limit && level.length > 0; depth += 1) {
    level = level.flatMap((parent) =>
      Object.values(parent).filter((child) => typeof child === 'object' && child !== null),
    )
  }
  return level.length > 0
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
  return new Refusal('invalid_json', { message: unreadable(error as ParserError), cause: error })
}

type ParserError = Error & { type?: string; status?: number; body?: unknown; charset?: string; encoding?: string }

function unreadable({ type, body, message }: ParserError): string {
  if (type === 'entity.parse.failed' && typeof body === 'string') return describeBrokenJson(body)
  // Further reasons are those of the decompression.
  return `The body cannot be read: ${message}.`
}

const inUtf8 = ['application/json; charset=utf-8']

function tooLarge(maxBytes: number): Refusal {
  return new Refusal('payload_too_large', { details: { max_bytes: maxBytes } })
}
