import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Teardown } from './site.ts'

/** A connected client of the official SDK. `call` calls a tool and returns its result. */
export type McpClient = Awaited<ReturnType<typeof connectMcp>>

/**
 * Connects the official client to the MCP endpoint of a service. `era` is the generation of the protocol: `modern` is
 * 2026-07-28, `legacy` is that of the clients of 2025.
 */
export async function connectMcp(
  t: Teardown,
  { origin, token, era = 'modern' }: { origin: string; token: string; era?: 'modern' | 'legacy' },
) {
  const client = new Client(
    { name: 'Test agent', version: '1.2.3' },
    { versionNegotiation: era === 'modern' ? { mode: { pin: '2026-07-28' } } : { mode: 'legacy' } },
  )
  const headers = { Authorization: `Bearer ${token}` }
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', origin), { requestInit: { headers } }))
  t.teardown(() => client.close())

  /** Calls a tool. With `key`, a repetition is answered as the first call was. */
  const call = async (name: string, args: object = {}, { key }: { key?: string } = {}): Promise<CallToolResult> =>
    (await client.callTool({
      name,
      arguments: args as Record<string, unknown>,
      ...(key !== undefined && { _meta: { 'svc/idempotency-key': key } }),
    })) as CallToolResult
  return { client, call }
}

/** The tokens of a result as the issue counts them: four characters a token, of everything that the client receives. */
export function tokensOf({ content, structuredContent }: CallToolResult): number {
  return Math.ceil(JSON.stringify({ content, structuredContent }).length / 4)
}

/** The text of a result. */
export function textOf({ content }: CallToolResult): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}
