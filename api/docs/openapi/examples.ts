import { readFileSync } from 'node:fs'
import { apiPrefix, type Route } from '../../http/route.ts'

/** A recorded call. A test has made the call, and example values have replaced its ids, times and secrets. */
export type ExampleCall = {
  operationId: string
  /** Path and query below `/api/v1`. */
  path: string
  if_match?: string
  request?: unknown
  status: number
  answer?: unknown
}

const calls = JSON.parse(readFileSync(new URL('./examples.json', import.meta.url), 'utf8')) as ExampleCall[]

/** The first recorded call of an operation; undefined where none was recorded. */
export function exampleCall(operationId: string): ExampleCall | undefined {
  return calls.find((call) => call.operationId === operationId)
}

/** The `example` member of a request body; empty where no example was recorded. */
export function requestExample(operationId: string): { example?: unknown } {
  const call = calls.find((candidate) => candidate.operationId === operationId && candidate.request !== undefined)
  return call === undefined ? {} : { example: call.request }
}

/** The `example` member of an answer with the given status; empty where no example was recorded. */
export function answerExample(operationId: string, status: number): { example?: unknown } {
  const call = calls.find((candidate) => candidate.operationId === operationId && candidate.status === status)
  return call?.answer === undefined ? {} : { example: call.answer }
}

/**
 * An example call of the route as a curl command for a shell, with the variables ORIGIN and TOKEN; null where no call
 * was recorded.
 */
export function curlOf(spec: Route): string | null {
  const call: Partial<ExampleCall> | undefined = spec.stream ? { path: spec.path } : exampleCall(spec.operationId)
  if (call === undefined) return null
  const words = [
    'curl',
    ...(spec.stream ? ['-N'] : []),
    ...(spec.method === 'GET' ? [] : ['-X', spec.method]),
    `"$ORIGIN${apiPrefix}${call.path}"`,
    ...(spec.access === 'anyone' ? [] : ['-H "Authorization: Bearer $TOKEN"']),
    ...(call.if_match === undefined ? [] : [`-H 'If-Match: ${call.if_match}'`]),
    ...payloadWords(spec, call.request),
  ]
  return words.join(' ')
}

function payloadWords(spec: Route, request: unknown): string[] {
  if (request === undefined) return []
  if (spec.multipart === undefined)
    return ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(request))}`]
  const fields = Object.entries(request as Record<string, string>).map(
    ([name, value]) => `-F ${quoted(`${name}=${value}`)}`,
  )
  return [...fields, `-F ${quoted(`${spec.multipart.file}=@picture.png`)}`]
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
