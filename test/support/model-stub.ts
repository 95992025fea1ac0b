import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from './site.ts'

/** A request as the provider received it. */
export type StubRequest = {
  model: string
  messages: { role: string; content: string }[]
  response_format?: { type: string; json_schema?: { name: string; schema: unknown } }
  authorization: string | undefined
}

/** What the stub does with a request. */
export type StubReply =
  /** A completion with this text; usage is ten tokens in and five out. */
  | { text: string | null }
  /** A refusal with this status. */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** A 200 with exactly this body. */
  | { raw: string }
  /** A 200 that begins like this and never ends. */
  | { begun: string }
  /** Nothing until `release` resolves, then what it resolves with. */
  | { release: Promise<StubReply> }

/** An OpenAI-compatible provider of our own. */
export type ModelStub = {
  /** Environment variables that make a service use it. */
  env: Record<string, string>
  /** Every request so far, in the order of arrival. */
  requests: StubRequest[]
  /** Decides about every request from now on; by default it answers `Summary <number of the request>.` */
  answerWith: (decide: (request: StubRequest, index: number) => StubReply) => void
  /** Lets every request from now on wait until the returned function is called with what to answer. */
  hold: () => (reply: StubReply) => void
}

/** Starts the stub; it ends with the test. */
export async function startModelStub(t: Teardown): Promise<ModelStub> {
  const requests: StubRequest[] = []
  let decide: (request: StubRequest, index: number) => StubReply = (_, index) => ({ text: `Summary ${index + 1}.` })
  const server = createServer((request, response) => {
    // Who hangs up while sending gets no answer.
    const answering = received(request).then((parsed) => {
      requests.push(parsed)
      return send(response, decide(parsed, requests.length - 1))
    })
    answering.catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return {
    env: {
      OPENAI_API_KEY: 'stub-key',
      OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1`,
      SUMMARY_MODEL: 'stub-summary',
      TRANSLATION_MODEL: 'stub-translation',
    },
    requests,
    answerWith(next) {
      decide = next
    },
    hold() {
      const { promise, resolve } = Promise.withResolvers<StubReply>()
      decide = () => ({ release: promise })
      return resolve
    },
  }
}

async function received(request: IncomingMessage): Promise<StubRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Omit<StubRequest, 'authorization'>
  return { ...body, authorization: request.headers.authorization }
}

async function send(response: ServerResponse, reply: StubReply): Promise<void> {
  if ('release' in reply) return send(response, await reply.release)
  if ('status' in reply) {
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
    response.end(reply.body ?? JSON.stringify({ error: { message: 'stub', type: 'stub', code: null } }))
    return
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  if ('begun' in reply) response.write(reply.begun)
  else response.end('raw' in reply ? reply.raw : JSON.stringify(completion(reply.text)))
}

function completion(content: string | null) {
  return {
    id: 'chatcmpl-stub',
    object: 'chat.completion',
    created: 0,
    model: 'stub',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  }
}
