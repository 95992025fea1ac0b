import { createHash, randomBytes } from 'node:crypto'
import type { TestService } from './service.ts'
import { hiddenFields, type Visit, type Visitor } from './visitor.ts'

/** The answer of an endpoint for programs. */
export type OAuthReply = {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any
}

/** The tokens that a program got. */
export type Tokens = { access_token: string; refresh_token: string; scope: string; expires_in: number }

/** A verifier of PKCE and its challenge. */
export function newProof(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** A program that registers, sends a person to the service and exchanges codes, step by step as a test wants it. */
export class OAuthProgram {
  readonly origin: string
  readonly clientId: string
  readonly redirectUri: string

  constructor(program: { origin: string; clientId: string; redirectUri: string }) {
    this.origin = program.origin
    this.clientId = program.clientId
    this.redirectUri = program.redirectUri
  }

  /** Registers a program at a service. */
  static async register(service: Pick<TestService, 'origin'>, metadata: object = {}): Promise<OAuthProgram> {
    const redirectUri = 'https://agent.example.test/callback'
    const registered = { client_name: 'Agent', redirect_uris: [redirectUri], ...metadata }
    const { status, body } = await postJson(`${service.origin}/oauth/register`, registered)
    if (status !== 201) throw new Error(`the registration was refused: ${JSON.stringify(body)}`)
    const [first] = registered.redirect_uris
    return new OAuthProgram({ origin: service.origin, clientId: body.client_id, redirectUri: first ?? redirectUri })
  }

  /** The path at which the authorization begins. A parameter that is null is left out. */
  authorizePath(parameters: Record<string, string | null> = {}): string {
    const given = {
      response_type: 'code',
      client_id: this.clientId,
      redirect_uri: this.redirectUri,
      code_challenge_method: 'S256',
      state: 'a state',
      ...parameters,
    }
    const kept = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== null)
    return `/oauth/authorize?${new URLSearchParams(kept)}`
  }

  /** Begins an authorization in a browser and returns what the browser got: the page of the decision, or an error. */
  async begin(browser: Visitor, parameters: Record<string, string | null> = {}): Promise<Visit & { path: string }> {
    const begun = await browser.get(this.authorizePath({ code_challenge: newProof().challenge, ...parameters }))
    const path = begun.location?.startsWith('/oauth/consent/') ? begun.location : ''
    return { ...(path === '' ? begun : await browser.get(path)), path }
  }

  /** Lets the person decide, and returns the address at the program to which the browser is sent. */
  async authorize(
    browser: Visitor,
    input: { parameters: Record<string, string | null>; decision?: string },
  ): Promise<URL> {
    const { path, html, status } = await this.begin(browser, input.parameters)
    if (path === '') throw new Error(`no page to decide on: ${status} ${html}`)
    const decided = await browser.post(path, { ...hiddenFields(html, path), decision: input.decision ?? 'approve' })
    if (decided.location === null) throw new Error(`no way on: ${decided.status} ${decided.html}`)
    const { location, html: refused } = await browser.get(decided.location)
    if (location === null) throw new Error(`no way back: ${refused}`)
    return new URL(location)
  }

  /** Calls the token endpoint. A parameter that is null is left out. */
  token(parameters: Record<string, string | null>): Promise<OAuthReply> {
    return this.post('/oauth/token', parameters)
  }

  revoke(token: string): Promise<OAuthReply> {
    return this.post('/oauth/revoke', { token })
  }

  refresh(refreshToken: string, parameters: Record<string, string> = {}): Promise<OAuthReply> {
    return this.token({ grant_type: 'refresh_token', refresh_token: refreshToken, ...parameters })
  }

  exchange(code: string, parameters: Record<string, string | null> = {}): Promise<OAuthReply> {
    const { redirectUri } = this
    return this.token({ grant_type: 'authorization_code', code, redirect_uri: redirectUri, ...parameters })
  }

  /** Goes all the way to tokens. */
  async connect(
    browser: Visitor,
    input: { parameters?: Record<string, string>; decision?: string } = {},
  ): Promise<Tokens> {
    const { verifier, challenge } = newProof()
    const parameters = { code_challenge: challenge, ...input.parameters }
    const back = await this.authorize(browser, { ...input, parameters })
    const { status, body } = await this.exchange(back.searchParams.get('code') ?? '', { code_verifier: verifier })
    if (status !== 200) throw new Error(`no tokens: ${JSON.stringify(body)}`)
    return body as Tokens
  }

  private async post(path: string, parameters: Record<string, string | null>): Promise<OAuthReply> {
    const all = { client_id: this.clientId, ...parameters }
    const kept = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null)
    return replyOf(await fetch(this.origin + path, { method: 'POST', body: new URLSearchParams(kept) }))
  }
}

/** Sends JSON and reads the answer. */
export async function postJson(url: string, body: unknown, headers: Record<string, string> = {}): Promise<OAuthReply> {
  const sent = { 'content-type': 'application/json', ...headers }
  return replyOf(await fetch(url, { method: 'POST', headers: sent, body: JSON.stringify(body) }))
}

async function replyOf(response: Response): Promise<OAuthReply> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}
