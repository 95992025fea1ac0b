import { readFileSync } from 'node:fs'

/** A call that a test has really made, with the ids, times and secrets of an example. */
export type ExampleCall = {
  operationId: string
  /** Path and query below the prefix of the interface. */
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

/** The `example` member of an answer with that status; empty where no example was recorded. */
export function answerExample(operationId: string, status: number): { example?: unknown } {
  const call = calls.find((candidate) => candidate.operationId === operationId && candidate.status === status)
  return call?.answer === undefined ? {} : { example: call.answer }
}
