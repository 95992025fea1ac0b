import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Configuration, type KoaContextWithOIDC, Provider } from 'oidc-provider'
import type { Test } from 'tap'
import { Visitor } from './visitor.ts'

/** The person who is signed in at the issuer; null makes the issuer refuse. */
export type Person = { sub: string; email?: string; email_verified?: boolean } | null

export const openIdClient = { id: 'documents', secret: 'a secret of the client' }

/** Starts a real OpenID Connect provider that signs in the current `person`. It ends with the test. */
export async function startIssuer(t: Test, callback: string) {
  let listener: RequestListener = () => {}
  const server = createServer((request, response) => listener(request, response)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer = { origin, person: null as Person, signIn, stop }
  // The provider warns that it is not ready for production, which is true and does not matter here.
  for (const method of ['warn', 'info'] as const) t.capture(console, method)
  const provider = new Provider(
    origin,
    configurationOf(callback, () => issuer.person),
  )
  const serve = provider.callback()
  listener = (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return serve(request, response)
    const result =
      issuer.person === null ? { error: 'access_denied' } : { login: { accountId: issuer.person.sub, remember: false } }
    return void provider.interactionFinished(request, response, result)
  }
  t.teardown(stop)

  function stop(): void {
    server.closeAllConnections()
    server.close()
  }

  /**
   * Signs in at the issuer as a browser does. Returns the path and query string of the redirect back to the service.
   */
  async function signIn(address: string): Promise<string> {
    const browser = new Visitor(origin)
    for (let next = address; ; ) {
      const { location, status, html } = await browser.get(next.slice(origin.length))
      if (location === null) throw new Error(`the issuer answered ${status}: ${html}`)
      const url = new URL(location, origin)
      if (url.origin !== origin) return url.pathname + url.search
      next = url.href
    }
  }

  return issuer
}

function configurationOf(callback: string, person: () => Person): Configuration {
  return {
    clients: [{ client_id: openIdClient.id, client_secret: openIdClient.secret, redirect_uris: [callback] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: [] },
    cookies: { keys: ['a key for the cookies of the issuer'] },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId, ...person() }) }),
    // The provider asks nobody for consent.
    async loadExistingGrant(context: KoaContextWithOIDC) {
      const { client, session, provider } = context.oidc
      const grant = new provider.Grant({ clientId: client?.clientId ?? '', accountId: session?.accountId ?? '' })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  }
}
