import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { runCommandLine, UsageError } from '../../shared/process/command-line.ts'
import { bridge } from './stdio-bridge.ts'

const exitUnauthorized = 4

const usage = `usage: npm --silent run mcp

Serves the tools of a running service to a local MCP client over standard input and output. The client starts this
command; all that a person needs to know is told on standard error.

  KB_ORIGIN  the service, or ORIGIN; http://localhost:3000 by default
  KB_TOKEN   a token of the service, or TOKEN

Exit codes: 0 the client has hung up, 1 failed, 2 the command line or the environment makes no sense, 4 the service does
not accept the token.`

await runCommandLine({ usage, options: {} }, async () => {
  const origin = originOf(process.env['KB_ORIGIN'] || process.env['ORIGIN'] || 'http://localhost:3000')
  const token = tokenOf(process.env['KB_TOKEN'] || process.env['TOKEN'])
  const end = await bridge({
    local: new StdioServerTransport(),
    endpoint: new URL('/mcp', origin),
    token,
    onReachable: (isReachable) =>
      tell(isReachable ? `${origin} answers again` : `waiting for ${origin}, which does not answer`),
  })
  if (end === 'hung_up') return
  tell(`${origin} does not accept the token: it is wrong, has expired or was revoked. Put a new one into KB_TOKEN;`)
  tell(`${origin}/account/tokens makes one.`)
  process.exitCode = exitUnauthorized
})

function originOf(text: string): string {
  const parsed = URL.parse(text)
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return parsed.origin
  throw new UsageError('KB_ORIGIN takes the http(s) address of a service')
}

function tokenOf(text: string | undefined): string {
  if (text && /^[\x21-\x7e]+$/.test(text)) return text
  throw new UsageError('KB_TOKEN takes a token of the service')
}

function tell(line: string): void {
  process.stderr.write(`mcp: ${line}\n`)
}
