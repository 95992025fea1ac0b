import * as modern from '@modelcontextprotocol/client'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { sql } from 'slonik'
import { freePort } from '../../../shared/start/processes.ts'
import { OAuthProgram } from '../../support/oauth-program.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { signedInVisitor } from '../../support/visitor.ts'

const port = String(await freePort({}))
const origin = `http://127.0.0.1:${port}`
const rates = { RATE_READ_PER_MIN: '100000', RATE_WRITE_PER_MIN: '100000' }
const service = await startTestService(t, { PORT: port, PUBLIC_ORIGIN: origin, ...rates })
const ada = await service.signUp()
const browser = await signedInVisitor(service, { userId: ada.user_id })

const address = new URL('/mcp', origin)
const info = { name: 'Agent', version: '1.0.0' }
const expiries = 100

/** Connects a client that has the approval of a person. Returns a call of a tool. */
type Connect = (authProvider: Awaited<ReturnType<typeof approved>>) => Promise<() => Promise<unknown>>

const clients: Record<string, Connect> = {
  'the client of 2025, version 1': async (authProvider) => {
    const client = new LegacyClient(info)
    // biome-ignore lint/suspicious/noExplicitAny: its declarations do not know exactOptionalPropertyTypes
    await client.connect(new LegacyTransport(address, { authProvider }) as any)
    t.teardown(() => client.close())
    return () => client.callTool({ name: 'whoami' })
  },
  'the client of 2026, version 2': async (authProvider) => {
    const client = new modern.Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
    await client.connect(new modern.StreamableHTTPClientTransport(address, { authProvider }))
    t.teardown(() => client.close())
    return () => client.callTool({ name: 'whoami' })
  },
}

for (const [name, connect] of Object.entries(clients)) {
  t.test(`eight calls at once find an expired token a hundred times, and nobody signs in again: ${name}`, async (t) => {
    const authProvider = await approved()
    const call = await connect(authProvider)
    await call()
    for (let expiry = 0; expiry < expiries; expiry += 1) {
      await anHourPasses()
      // The client of version 1 gives up a call whose 401 arrives when another call has just renewed the token.
      const answers = await Promise.allSettled(Array.from({ length: 8 }, call))
      const isAnswered = (answer: PromiseSettledResult<unknown>) =>
        answer.status === 'fulfilled' && !(answer.value as { isError?: boolean }).isError
      t.ok(answers.some(isAnswered), `expiry ${expiry}`)
      t.ok(await call(), 'and the next call is answered')
    }
    t.equal(authProvider.signIns, 0)
    t.ok(authProvider.renewals >= expiries, `${authProvider.renewals} renewals`)
    t.comment(`${name}: ${expiries} expiries, ${8 * expiries} calls, ${authProvider.renewals} renewals`)
  })
}

/** The approval of a person, as a client keeps it. */
async function approved() {
  const program = await OAuthProgram.register(service)
  const tokens = await program.connect(browser, { parameters: { resource: address.href } })
  let current = { ...tokens, token_type: 'Bearer' }
  const provider = {
    signIns: 0,
    renewals: 0,
    redirectUrl: program.redirectUri,
    clientMetadata: { client_name: 'Agent', redirect_uris: [program.redirectUri] },
    clientInformation: () => ({ client_id: program.clientId, redirect_uris: [program.redirectUri] }),
    tokens: () => current,
    saveTokens(renewed: object) {
      provider.renewals += 1
      current = { ...current, ...renewed }
    },
    redirectToAuthorization() {
      provider.signIns += 1
    },
    saveCodeVerifier() {},
    codeVerifier: () => '',
  }
  return provider
}

// A renewal of the client's event stream may still be on its way, so a token that has just been used keeps its leeway.
async function anHourPasses(): Promise<void> {
  await service.database.query(sql.unsafe`
    WITH used AS (
      UPDATE oauth_artifacts SET used_at = used_at - interval '61 minutes' WHERE used_at < now() - interval '10 seconds')
    UPDATE tokens SET created_at = created_at - interval '61 minutes', expires_at = expires_at - interval '61 minutes'
    WHERE grant_id IS NOT NULL`)
}
