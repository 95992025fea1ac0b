import { isUtf8 } from 'node:buffer'
import express, { type Request, type Response } from 'express'
import { Refusal, unsupportedMediaType } from '../../shared/errors/errors.ts'
import { discardRest } from './discard-rest.ts'

/**
 * Makes the step that takes in the text of a JSON body, '' for one that is absent: after authentication, never before,
 * so that nobody unknown makes the service parse anything (decisions 2.0, check order).
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

// JSON is in a form of Unicode. Decoding would put U+FFFD in place of what is no UTF-8, and the document would not hold
// what was sent.
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
  // What is left is no UTF-8, or cannot be decompressed.
  const message = `The body cannot be read: ${(error as Error).message}.`
  return new Refusal('invalid_json', { message, cause: error })
}

type ParserError = { type?: string; status?: number; charset?: string; encoding?: string }

const inUtf8 = ['application/json; charset=utf-8']

function tooLarge(maxBytes: number): Refusal {
  return new Refusal('payload_too_large', { details: { max_bytes: maxBytes } })
}
