import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client'
import * as openid from 'openid-client'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { freePort } from '../../../../shared/start/processes.ts'
import { violationsOf } from '../../../pages/browser/axe.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { connectMcp, textOf } from '../../../support/mcp.ts'
import { startTestService, type TestService } from '../../../support/service.ts'
import { type Test, t } from '../../../support/tap.ts'
import { signedInVisitor } from '../../../support/visitor.ts'

const ada = { email: 'ada@example.test', password: 'correct horse' }
const discovery: openid.DynamicClientRegistrationRequestOptions = {
  algorithm: 'oauth2',
  execute: [openid.allowInsecureRequests],
}

t.test('a standard client is let in, works, renews and says goodbye', { skip: noChromium }, async (t) => {
  const service = await startAtOwnOrigin(t)
  const { origin } = service
  await service.signUp(ada)
  const program = await startProgram(t)
  const resource = `${origin}/mcp`
  const refused = await fetch(resource, { method: 'POST' })
  const metadataUrl = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1] ?? ''
  t.match(await (await fetch(metadataUrl)).json(), { resource, authorization_servers: [origin] })
  const metadata = { client_name: 'Standard agent', redirect_uris: ['http://127.0.0.1/callback'] }
  const client = await openid.dynamicClientRegistration(new URL(origin), metadata, openid.None(), discovery)

  const verifier = openid.randomPKCECodeVerifier()
  const state = openid.randomState()
  const begin = openid.buildAuthorizationUrl(client, {
    redirect_uri: program.callback,
    scope: 'documents:read knowledge-bases:read knowledge-bases:write',
    resource,
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const page = await openPage(t)
  await page.goto(begin.href)
  await signIn(page)
  await page.getByRole('heading', { name: 'Connect “Standard agent”?' }).waitFor()
  t.equal(await page.getByRole('listitem').count(), 3)
  t.match(await page.locator('.facts').textContent(), '127.0.0.1')
  await page.getByRole('button', { name: 'Approve', exact: true }).press('Enter')
  await page.getByText('You can close this page').waitFor()

  const checks = { pkceCodeVerifier: verifier, expectedState: state }
  const tokens = await openid.authorizationCodeGrant(client, await program.visited, checks, { resource })
  t.equal(tokens.scope, 'documents:read knowledge-bases:read knowledge-bases:write')
  const whoami = async (token: string) => textOf(await (await connectMcp(t, { origin, token })).call('whoami'))
  t.match(await whoami(tokens.access_token), ada.email)
  const elsewhere = openid.fetchProtectedResource(client, tokens.access_token, new URL(`${origin}/api/v1/me`), 'GET')
  await t.rejects(elsewhere, openid.WWWAuthenticateChallengeError, 'the token is for the tools alone')
  const renewed = await openid.refreshTokenGrant(client, tokens.refresh_token ?? '')
  t.match(await whoami(renewed.access_token), ada.email)

  await page.goto(`${origin}/account/tokens`)
  await page.getByRole('row', { name: 'Standard agent' }).waitFor()
  t.same(await violationsOf(page), [])
  await openid.tokenRevocation(client, renewed.refresh_token ?? '')
  await t.rejects(whoami(renewed.access_token))
  await t.rejects(openid.refreshTokenGrant(client, renewed.refresh_token ?? ''), openid.ResponseBodyError)
  await page.reload()
  t.equal(await page.getByRole('row', { name: 'Standard agent' }).count(), 0)
})

t.test('a person pastes one address into an assistant and presses Approve', { skip: noChromium }, async (t) => {
  const service = await startAtOwnOrigin(t)
  await service.signUp(ada)
  const program = await startProgram(t)
  const page = await openPage(t, { javaScriptEnabled: false })
  const kept: Record<string, unknown> = {}
  const authProvider = {
    redirectUrl: program.callback,
    clientMetadata: { client_name: 'Assistant', redirect_uris: [program.callback] },
    clientInformation: () => kept['client'] as never,
    saveClientInformation: (client: object) => void Object.assign(kept, { client }),
    tokens: () => kept['tokens'] as never,
    saveTokens: (tokens: object) => void Object.assign(kept, { tokens }),
    codeVerifier: () => String(kept['verifier']),
    saveCodeVerifier: (verifier: string) => void Object.assign(kept, { verifier }),
    redirectToAuthorization: async (url: URL) => void (await page.goto(url.href)),
  }
  const transport = () => new StreamableHTTPClientTransport(new URL(`${service.origin}/mcp`), { authProvider })
  const assistant = () => new Client({ name: 'Assistant', version: '1.0.0' })
  const first = transport()
  await t.rejects(assistant().connect(first), UnauthorizedError)
  await signIn(page)
  await page.getByRole('button', { name: 'Approve, but read only' }).click()
  await page.getByText('You can close this page').waitFor()
  await first.finishAuth((await program.visited).searchParams)
  const client = assistant()
  await client.connect(transport())
  t.teardown(() => client.close())
  const answer = await client.callTool({ name: 'whoami', arguments: {} })
  t.match(JSON.stringify(answer), ada.email)
  t.notMatch(JSON.stringify(answer), 'documents:write')
})

t.test('a person who refuses comes back to the program, which learns it', { skip: noChromium }, async (t) => {
  const service = await startAtOwnOrigin(t)
  const { user_id: userId } = await service.signUp(ada)
  const program = await startProgram(t)
  const metadata = { redirect_uris: [program.callback] }
  const client = await openid.dynamicClientRegistration(new URL(service.origin), metadata, openid.None(), discovery)
  const verifier = openid.randomPKCECodeVerifier()
  const begin = openid.buildAuthorizationUrl(client, {
    redirect_uri: program.callback,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  const session = (await signedInVisitor(service, { userId })).cookies.get('svc_session') ?? ''
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await openPage(t, { colorScheme, viewport: { width: 360, height: 800 } })
    await page.context().addCookies([{ name: 'svc_session', value: session, url: service.origin }])
    await page.goto(begin.href)
    await page.getByRole('heading', { name: 'Connect a program?' }).waitFor()
    t.same(await violationsOf(page), [], colorScheme)
    const wide = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
    t.equal(await page.evaluate(wide), 0, 'it fits a telephone')
    if (colorScheme === 'light') continue
    await page.getByRole('button', { name: 'Deny' }).click()
    await page.getByText('You can close this page').waitFor()
  }
  const grant = openid.authorizationCodeGrant(client, await program.visited, { pkceCodeVerifier: verifier })
  await t.rejects(grant, openid.AuthorizationResponseError, 'access_denied')
})

// A service that is reached at its public origin, as standard clients demand.
async function startAtOwnOrigin(t: Test): Promise<TestService> {
  const port = String(await freePort({}))
  return startTestService(t, { PORT: port, PUBLIC_ORIGIN: `http://127.0.0.1:${port}` })
}

// A program on this computer: it listens on a port of its own for the browser that comes back.
async function startProgram(t: Test): Promise<{ callback: string; visited: Promise<URL> }> {
  const visited = Promise.withResolvers<URL>()
  const server = createServer((request, response) => {
    response.end('You can close this page')
    if (request.url?.startsWith('/callback')) visited.resolve(new URL(request.url, callback))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const callback = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { callback, visited: visited.promise }
}

async function openPage(t: Test, options: BrowserContextOptions = {}): Promise<Page> {
  return (await (await startChromium(t)).newContext(options)).newPage()
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Email').fill(ada.email)
  await page.getByLabel('Password', { exact: true }).fill(ada.password)
  await page.keyboard.press('Enter')
}
