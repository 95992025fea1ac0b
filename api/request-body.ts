import { isUtf8 } from 'node:buffer'
import express, { type Request, type Response } from 'express'
import { Refusal } from '../shared/errors.ts'

/**
 * Makes the step that reads a JSON body: after authentication, never before, so that nobody unknown makes the service
 * parse anything (decisions 2.0, check order). A body that is absent counts as `{}`.
 */
export function jsonBodyReader(maxBytes: number) {
  const parse = express.json({ limit: maxBytes, strict: false, type: () => true, verify: requireUtf8 })
  return async (request: Request, response: Response, accepted: readonly string[]) => {
    const mediaType = mediaTypeOf(request)
    if (hasBody(request) && !accepted.includes(mediaType ?? '')) {
      throw new Refusal('unsupported_media_type', { details: { accepted: [...accepted] } })
    }
    await new Promise<void>((resolve, reject) => {
      parse(request, response, (error?: unknown) => (error ? reject(bodyRefusal(error, maxBytes)) : resolve()))
    })
    const body: unknown = request.body === undefined ? {} : request.body
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new Refusal('invalid_json', { message: 'The body must be a JSON object.' })
    }
    if (isDeeperThan(maxDepth, body)) {
      const fields = [{ path: '/', message: `must not be nested deeper than ${maxDepth} levels` }]
      throw new Refusal('invalid_request', { details: { fields } })
    }
    return { body, mediaType }
  }
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
  const type = (error as { type?: unknown }).type
  if (type === 'entity.too.large') return new Refusal('payload_too_large', { details: { max_bytes: maxBytes } })
  if (type === 'encoding.unsupported' || type === 'charset.unsupported') {
    return new Refusal('unsupported_media_type', { details: { accepted: ['application/json; charset=utf-8'] } })
  }
  const status = (error as { status?: unknown }).status
  return typeof status === 'number' && status < 500 ? new Refusal('invalid_json', { cause: error }) : error
}
