import Type from 'typebox'
import { ComputationLimitError, computation } from '../../shared/computations/computation.ts'
import { compute } from '../../shared/computations/compute.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { describeBrokenJson } from '../http/broken-json.ts'
import { fingerprintOf } from '../http/idempotency.ts'
import { bodyReader } from '../http/input.ts'
import { isDeeperThan } from '../http/json-depth.ts'
import { kindOf } from '../http/problems.ts'
import type { JsonBody, ReadBody } from '../http/service.ts'
import { routes } from './routes.ts'

/**
 * Reads the JSON of a request by the schema of its route. A large text is read in a thread, when it is the turn of the
 * caller. Refuses with 400 `invalid_json` and `invalid_request`, and with 503 `service_unavailable` when too much work
 * waits already.
 */
export async function readJson(json: JsonBody): Promise<ReadBody> {
  try {
    return await compute(reading, json)
  } catch (error) {
    throw error instanceof ComputationLimitError ? invalid('takes too much time or memory to read') : error
  }
}

/**
 * Parses, validates and decodes the JSON of a request by the schema of its route. A thread imports this function by its
 * name. @public
 */
export function readBody({ operationId, text, query }: JsonBody): ReadBody {
  const value = parse(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('invalid_json', { message: `The body must be a JSON object, not ${kindOf(value)}.` })
  }
  if (isDeeperThan(maxDepth, value)) throw invalid(`must not be nested deeper than ${maxDepth} levels`)
  const fingerprint = query && fingerprintOf(value, new URLSearchParams(query))
  return { body: readerOf(operationId)(value) as object, fingerprint }
}

const reading = computation({
  module: import.meta.url,
  run: readBody,
  isSmall: ({ text }) => text.length <= smallText,
  cpuMs: ({ text }) => Math.min(10_000, 2000 + text.length * 0.002),
})

// The largest number of characters of a body that is read without a thread. Checking takes longest when all elements
// are wrong, and then takes some milliseconds.
const smallText = 64 * 1024

const readers = new Map<string, ReturnType<typeof bodyReader>>()

// The reader of an operation is compiled at its first request, because one thread reads the bodies of few operations.
function readerOf(operationId: string): ReturnType<typeof bodyReader> {
  const known = readers.get(operationId)
  if (known !== undefined) return known
  const { body = Type.Object({}) } = routes.find((route) => route.operationId === operationId) ?? {}
  const reader = bodyReader(body)
  readers.set(operationId, reader)
  return reader
}

// A body that is absent counts as `{}`.
function parse(text: string): unknown {
  if (text === '') return {}
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal('invalid_json', { message: describeBrokenJson(text), cause: error })
  }
}

// The largest number of levels of a body. Validation, decoding and serialising recurse, and from some 2500 levels on
// they exhaust the stack. The deepest valid body has less than a hundred levels.
const maxDepth = 1000

function invalid(message: string): Refusal {
  return new Refusal('invalid_request', { details: { fields: [{ path: '/', message }] } })
}
