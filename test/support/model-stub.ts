import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from './site.ts'

/** A request that the stub received. */
export type StubRequest = {
  model: string
  messages: { role: string; content: string }[]
  response_format?: { type: string; json_schema?: { name: string; schema: unknown } }
  authorization: string | undefined
}

/** The answer of the stub to a request. */
export type StubReply =
  /** A completion with this text and a usage of ten input and five output tokens. */
  | { text: string | null }
  /** An error with this status. */
  | { status: number; headers?: Record<string, string>; body?: string }
  /** A 200 with exactly this body. */
  | { raw: string }
  /** A 200 whose body begins with this text and never ends. */
  | { begun: string }
  /** No answer until `release` resolves, then the answer that it resolves with. */
  | { release: Promise<StubReply> }

/** A local provider with the interface of OpenAI. */
export type ModelStub = {
  /** The environment variables with which a service uses the stub. */
  env: Record<string, string>
  /** All requests so far, in the order of arrival. */
  requests: StubRequest[]
  /** Sets the answers to all later requests. The default answer is `Summary <number of the request>.` */
  answerWith: (decide: (request: StubRequest, index: number) => StubReply) => void
  /** Makes all later requests wait until the returned function is called with their answer. */
  hold: () => (reply: StubReply) => void
}

/** Starts the stub, which ends with the test. */
export async function startModelStub(t: Teardown): Promise<ModelStub> {
  const requests: StubRequest[] = []
  let decide: (request: StubRequest, index: number) => StubReply = (_, index) => ({ text: `Summary ${index + 1}.` })
  const server = createServer((request, response) => {
    // A client that disconnects while it sends gets no answer.
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
