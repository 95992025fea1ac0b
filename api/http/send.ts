import type { Request, Response } from 'express'
import { type TSchema, Type } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { minimalSchema } from './minimal-answer.ts'
import { type EntityTags, entityTagOf, satisfies } from './preconditions.ts'
import type { Answer, Route, Success } from './route.ts'

/** An answer of a handler, with the headers of the request that decide how the answer is sent. */
type Outgoing = {
  spec: Route
  answer: Answer
  request: Request
  response: Response
  /** The parsed If-None-Match; null where the route or the client does not use it. */
  ifNoneMatch: EntityTags | null
  /** The media type that Accept has chosen; null where there is no choice. */
  contentType: string | null
}

/**
 * Sends an answer: 304 when the client has the version of the answer, otherwise the bytes of `write` or the JSON
 * envelope.
 */
export async function send({ spec, answer, request, response, ifNoneMatch, contentType }: Outgoing): Promise<void> {
  if (answer.etag != null) response.set('ETag', entityTagOf(answer.etag))
  if (answer.location != null) response.set('Location', answer.location)
  if (answer.headers !== undefined) response.set(answer.headers)
  if (contentType !== null) response.set('Content-Type', contentType)
  if (isNotModified(answer, ifNoneMatch)) {
    response.status(304).end()
    return
  }
  const status = statusOf(spec, answer)
  const media = spec.success.find((success) => success.status === status)?.media
  if (media !== undefined) response.status(status).type(media)
  if (status === 204 || (media !== undefined && request.method === 'HEAD')) response.status(status).end()
  else if (answer.write !== undefined) await answer.write(response)
  else sendEnvelope(response.status(status), answer)
}

/** Whether the answer is 304: If-None-Match names its version. `ifNoneMatch` is null where it is not used. */
export function isNotModified({ etag }: Answer, ifNoneMatch: EntityTags | null): boolean {
  return ifNoneMatch !== null && etag != null && satisfies(ifNoneMatch, etag)
}

/** The status of an answer: the status that the handler chose, or the first that the route declares. */
export function statusOf(spec: Route, answer: Answer): number {
  return answer.status ?? spec.success[0]?.status ?? 200
}

/**
 * Makes a check that an answer has the schema which its route declares, because that schema is a promise to clients.
 * The check throws an Error with the first three differences. Only the tests switch the check on.
 */
export function answerCheck(spec: Route): (answer: Answer) => void {
  return (answer) => {
    // The data of a 304 may not be computed.
    if (answer.computeData !== undefined) return
    const status = statusOf(spec, answer)
    const success = spec.success.find((declared) => declared.status === status)
    if (success === undefined) throw new Error(`${spec.operationId} does not declare status ${status}`)
    const validator = dataValidator(spec, success)
    const text = answer.dataText ?? JSON.stringify(answer.data)
    const data: unknown = text === undefined ? undefined : JSON.parse(text)
    if (validator === null ? data === undefined : validator.Check(data)) return
    const problems = validator
      ?.Errors(data)
      .slice(0, 3)
      .map((error) => `${error.instancePath} ${error.message}`)
    throw new Error(`${spec.operationId} answered against its schema: ${problems?.join('; ') ?? 'data without schema'}`)
  }
}

// JSON text that a thread wrote goes into the envelope as it is. Parsing it again would block the event loop.
function sendEnvelope(response: Response, answer: Answer): void {
  const requestId = response.locals['requestId'] as string
  if (answer.dataText === undefined) {
    response.json(envelope(answer, requestId))
    return
  }
  const others = JSON.stringify(envelope(answer, requestId)).slice(1)
  if (!response.get('Content-Type')) response.type('json')
  response.send(`{"data":${answer.dataText},${others}`)
}

function envelope(answer: Answer, requestId: string): object {
  return {
    data: answer.data,
    ...(answer.page !== undefined && { page: answer.page }),
    ...answer.members,
    request_id: requestId,
  }
}

// Validators are shared by all services of the process: tests start many services and call few routes of each.
const validators = new WeakMap<Success, Validator | null>()

// The validator of `data`, compiled at the first answer with this success; null where the success has no data.
function dataValidator(spec: Route, success: Success): Validator | null {
  let validator = validators.get(success)
  if (validator === undefined) {
    validator = success.data === null ? null : Compile(dataSchema(spec, { ...success, data: success.data }))
    validators.set(success, validator)
  }
  return validator
}

function dataSchema({ rehearsal }: Route, success: Success & { data: TSchema }): TSchema {
  const { list = false } = success
  if (list) return Type.Array(success.data)
  const minimal = minimalSchema(success)
  const data = minimal === null ? success.data : Type.Union([success.data, minimal])
  return rehearsal === undefined ? data : Type.Intersect([data, Type.Object({ diff: Type.Optional(rehearsal.diff) })])
}
