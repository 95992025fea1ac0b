import { AsyncLocalStorage } from 'node:async_hooks'
import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Response } from 'express'
import { errors, type Interaction, type KoaContextWithOIDC } from 'oidc-provider'
import type { AuthorizationServer, Decision, WaitingRequest } from '../../shared/auth/oauth/authorization-server.ts'
import { oauthPaths } from '../../shared/auth/oauth/paths.ts'
import { scopes } from '../../shared/auth/scopes.ts'
import type { Config } from '../../shared/config/config.ts'
import type { Database, Transaction } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import type { Logger } from '../../shared/process/log.ts'
import { PageRefusal } from '../pages/refusals.ts'
import { storageFor } from './adapter.ts'
import { SiteUnavailableError } from './client-documents.ts'
import { answeredMembers } from './client-metadata.ts'
import { inOneTransaction } from './one-transaction.ts'
import { createProvider } from './provider.ts'
import { requestCopy } from './request-copy.ts'

/** Makes the authorization server. It has no state of its own: all is in the database and in cookies. */
export function createAuthorizationServer(context: {
  config: Config
  database: Database
  log: Logger
}): AuthorizationServer {
  const { config, database, log } = context
  const begun = new AsyncLocalStorage<() => Promise<Transaction>>()
  const connection = async () => begun.getStore()?.() ?? database
  const adapter = storageFor({ config, pool: database, database: connection })
  const provider = createProvider(config, { adapter, renderError })
  provider.use(async (ctx, next) => {
    try {
      await (exchanges.has(ctx.path) ? exchange(ctx, next) : next())
    } catch (error) {
      failWith(ctx, error)
    }
  })
  provider.use(async (ctx, next) => {
    await next()
    if (ctx.path === oauthPaths.register && ctx.status === 201) ctx.body = registered(ctx.body as object)
  })
  provider.on('authorization.error', showStrangersErrors)
  provider.on('server_error', (ctx, error) => failWith(ctx, error))
  provider.on('grant.error', failWhileUnknown)
  provider.on('revocation.error', failWhileUnknown)
  // Koa reports here what no middleware has caught.
  const app: EventEmitter = provider
  app.on('error', (error: unknown, ctx: KoaContextWithOIDC) => failWith(ctx, error))
  provider.on('grant.revoked', (ctx, grantId) => {
    ctx.state['hasRevoked'] = true
    const reason =
      ctx.oidc.route === 'revocation' ? 'its program has revoked it' : 'a code or refresh token was used twice'
    log.warn({ ...contextOf(ctx), grant_id: grantId, reason }, 'grant revoked')
  })
  provider.on('registration_create.success', (ctx) => log.info(contextOf(ctx), 'OAuth client registered'))
  const answer = provider.callback()
  return {
    async serve(request, response, { url, body, isConnected = false }) {
      response.locals['oauthConnected'] = isConnected
      await answer(requestCopy(request, { origin: config.PUBLIC_ORIGIN, url, body }), response)
      const { oauthFailure: failure } = response.locals
      if (failure !== undefined) throw failure
    },
    async waiting(request, response, id) {
      const found = await interactionOf(request, response)
      return found === null || found.uid !== id ? null : describe(found)
    },
    async decide(request, response, decided) {
      const found = await interactionOf(request, response)
      if (found === null) return null
      const result = decided === null ? denied : approvalOf(decided)
      await provider.interactionResult(request, response, result, { mergeWithLastSubmission: false })
      return `${oauthPaths.authorize}/${found.uid}`
    },
  }

  // A token and its consequences are one transaction: a crash must not use a refresh token up without a new one. A
  // refused request changes nothing, unless it is the second use of a secret.
  async function exchange(ctx: Pick<KoaContextWithOIDC, 'status' | 'state'>, next: () => Promise<void>): Promise<void> {
    await inOneTransaction(database, (begin) =>
      begun.run(begin, async () => {
        await next()
        return ctx.status < 400 || ctx.state['hasRevoked'] === true
      }),
    )
  }

  async function interactionOf(request: IncomingMessage, response: ServerResponse): Promise<Interaction | null> {
    try {
      return await provider.interactionDetails(request, response)
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return null
      throw error
    }
  }
}

// A registration without the members of OpenID Connect, which the library adds and this service does not have.
function registered(metadata: object): object {
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => answeredMembers.has(name)))
}

// What a person decides about is what was stored with the request. So it cannot change until the decision, and no
// metadata document is fetched again.
function describe({ params, prompt }: Interaction): WaitingRequest {
  const asked = String(params['scope']).split(' ')
  const { clientName } = prompt.details
  return {
    clientId: String(params['client_id']),
    clientName: typeof clientName === 'string' ? clientName : null,
    redirectUri: String(params['redirect_uri']),
    scopes: scopes.filter((scope) => asked.includes(scope)),
    resource: String(params['resource']),
  }
}

// The paths whose requests change tokens.
const exchanges: ReadonlySet<string> = new Set([oauthPaths.token, oauthPaths.revoke])

const denied = { error: 'access_denied', error_description: 'the person has refused' }

function approvalOf({ userId, grantId }: NonNullable<Decision>) {
  return { login: { accountId: userId, remember: false }, consent: { grantId } }
}

// Anybody can register a program with any address. If errors were sent on before a person has decided, every link to
// this service could lead to that address (RFC 9700, 4.11.2). So the person sees the error instead.
function showStrangersErrors(ctx: KoaContextWithOIDC, error: errors.OIDCProviderError): void {
  const isDecided = ctx.oidc.route === 'resume'
  const { locals } = ctx.res as unknown as Response
  if (!isDecided && locals['oauthConnected'] !== true) Object.assign(error, { allow_redirect: false })
}

// An error that the library cannot send to the program: a person sees it.
function renderError(ctx: KoaContextWithOIDC, out: { error_description?: string | undefined }, error: Error): void {
  const isOfRequest = error instanceof errors.OIDCProviderError && error.expose
  failWith(ctx, isOfRequest ? refusedRequest(error, out.error_description) : error)
}

function refusedRequest(error: errors.OIDCProviderError, description: string | undefined): PageRefusal {
  const isGone = error instanceof errors.SessionNotFound
  // An error that the library means to redirect has the status of a redirect.
  return new PageRefusal(Math.max(error.statusCode, 400), {
    heading: isGone ? 'Please start again' : 'This program cannot be connected',
    advice: isGone
      ? 'The request was too old, or it was answered already. Go back to the program and connect it again.'
      : `The request of the program was refused: ${description ?? error.message}. Its maker has to correct that.`,
  })
}

// The program is not known while its metadata document cannot be fetched. The library would answer that there is no
// such program, which then throws its tokens away.
function failWhileUnknown(ctx: KoaContextWithOIDC, { cause }: Error): void {
  if (!(cause instanceof SiteUnavailableError)) return
  const message = 'The client metadata document cannot be fetched at the moment.'
  failWith(ctx, new Refusal('service_unavailable', { message, headers: { 'Retry-After': '5' }, cause }))
}

// Keeps a failure for the caller of `serve`, and leaves the answer to it.
function failWith(ctx: Pick<KoaContextWithOIDC, 'res' | 'respond'>, failure: unknown): void {
  const { locals } = ctx.res as Response
  locals['oauthFailure'] = failure
  ctx.respond = false
}

function contextOf(ctx: KoaContextWithOIDC) {
  const { locals } = ctx.res as unknown as Response
  return { request_id: locals['requestId'] as string, client_id: ctx.oidc.client?.clientId }
}
