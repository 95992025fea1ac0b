import { admit, decide, type Incoming, inTurn, type Pipeline, pipelineOf, withData } from '../http/pipeline.ts'
import { entityTagOf } from '../http/preconditions.ts'
import { apiPrefix, isRead, type Route } from '../http/route.ts'
import type { Service } from '../http/service.ts'

/** A call of a route by a tool. */
export type RouteCall = {
  operationId: string
  params?: Readonly<Record<string, string | number>>
  /** The query parameters; an undefined one is not sent, a list is sent as repetitions. */
  query?: Readonly<Record<string, QueryValue | readonly QueryValue[] | undefined>>
  /** The JSON body; an undefined member is not sent. */
  body?: object
  headers?: Readonly<Record<string, string | undefined>>
}

type QueryValue = string | number | boolean

/** An answer of a route: the data, the page of a list, and the version that the ETag names. */
export type RouteAnswer<Data> = {
  version: string | null
  data: Data
  page: { next_cursor: string | null; has_more: boolean } | null
}

/**
 * Calls a route of the route table: the same checks, limits, turns, idempotency and audit as for a request over HTTP.
 * Throws the `Refusal` that would have answered the request.
 */
export type Door = <Data>(call: RouteCall) => Promise<RouteAnswer<Data>>

/** What all calls of one request to the MCP endpoint have in common. */
export type Visit = Pick<Incoming, 'identify' | 'address' | 'requestId' | 'client' | 'setHeaders' | 'signal'> & {
  /** The key with which the client repeats the request; null without one. */
  idempotencyKey: string | null
}

/** Makes the doors into the routes of the table, one for each request to the MCP endpoint. */
export function doors(service: Service, routes: readonly Route[]): (visit: Visit) => Door {
  const pipelines = new Map<string, Pipeline>()
  const specs = new Map(routes.map((spec) => [spec.operationId, spec]))
  const pipelineFor = (operationId: string): Pipeline => {
    const known = pipelines.get(operationId)
    if (known !== undefined) return known
    const spec = specs.get(operationId)
    if (spec === undefined) throw new TypeError(`no route has the operation id ${operationId}`)
    const pipeline = pipelineOf(service, spec)
    pipelines.set(operationId, pipeline)
    return pipeline
  }
  return (visit) =>
    <Data>(call: RouteCall) =>
      callRoute<Data>(pipelineFor(call.operationId), { visit, call })
}

async function callRoute<Data>(
  pipeline: Pipeline,
  { visit, call }: { visit: Visit; call: RouteCall },
): Promise<RouteAnswer<Data>> {
  const { spec } = pipeline
  const incoming = incomingOf(spec, { visit, call })
  const admitted = { ...incoming, caller: await admit(pipeline, incoming) }
  return inTurn(pipeline, admitted, async () => {
    const answer = await withData(await decide(pipeline, admitted))
    pipeline.checkAnswer(answer)
    return {
      version: answer.etag ?? null,
      data: (answer.dataText === undefined ? answer.data : JSON.parse(answer.dataText)) as Data,
      page: answer.page ?? null,
    }
  })
}

function incomingOf(spec: Route, { visit, call }: { visit: Visit; call: RouteCall }): Incoming {
  const { idempotencyKey, ...common } = visit
  // A key is for what is written. A read that belongs to a repeated call tells the present state.
  const key = idempotencyKey === null || isRead(spec) ? {} : { 'idempotency-key': idempotencyKey }
  const params = Object.fromEntries(Object.entries(call.params ?? {}).map(([name, value]) => [name, String(value)]))
  const path = spec.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''))
  return {
    ...common,
    headers: { ...key, ...call.headers },
    path: apiPrefix + path,
    params,
    query: queryOf(call.query ?? {}),
    body: { text: JSON.stringify(call.body ?? {}) },
  }
}

function queryOf(query: NonNullable<RouteCall['query']>): URLSearchParams {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (value === undefined ? [] : [value].flat()).map((single): [string, string] => [name, String(single)]),
  )
  return new URLSearchParams(pairs)
}

/** The header If-Match for a version of a body, quoted or bare; an absent version guards nothing. */
export function ifMatch(version: string | undefined): { 'if-match': string | undefined } {
  return { 'if-match': version === undefined ? undefined : entityTagOf(version.replace(/^"(.*)"$/, '$1')) }
}
