import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { connectMcp } from '../support/mcp.ts'
import { root } from '../support/processes.ts'
import { sharedService } from '../support/service.ts'
import { type Test, t } from '../support/tap.ts'

const service = await sharedService()
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const [, section = ''] = readme.split('\n## Quick start for agents\n')
const [address = '', configuration = ''] = [...section.matchAll(/```(?:json)?\n(.*?)```/gs)].map(
  ([, text = '']) => text,
)

t.test('the address of the README is that of the tools', async (t) => {
  const ada = await service.signUp()
  const { pathname, origin } = new URL(address)
  t.equal(origin, service.config.PUBLIC_ORIGIN, 'it is the default address of the service')
  t.equal(pathname, '/mcp', 'it is where the client of the tests connects')
  const { client } = await connectMcp(t, ada)
  await canWork(t, client)
})

t.test('whoever copies the configuration of the README into a local client can work with its tools', async (t) => {
  const ada = await service.signUp()
  const { mcpServers } = JSON.parse(configuration) as { mcpServers: Record<string, Server> }
  const { command, args, env } = mcpServers['documents'] as Server
  t.same(env, { KB_ORIGIN: new URL(address).origin, KB_TOKEN: '<token>' })
  const client = new Client({ name: 'Copied configuration', version: '1.0.0' })
  t.teardown(() => client.close())
  // What a reader puts in: the folder, the address of the running service, and the token.
  await client.connect(
    new StdioClientTransport({
      command,
      args: args.map((word) => (word === '/path/to/this/folder' ? root : word)),
      env: { ...env, KB_ORIGIN: service.origin, KB_TOKEN: ada.token },
    }),
  )
  await canWork(t, client)
})

type Server = { command: string; args: string[]; env: Record<string, string> }

async function canWork(t: Test, client: Client): Promise<void> {
  const { tools } = await client.listTools()
  t.equal(tools.length, 16)
  const result = await client.callTool({ name: 'whoami', arguments: {} })
  t.match(result.structuredContent, { workspaces: [{ role: 'owner' }] })
}
