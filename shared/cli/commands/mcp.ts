import { type Cli, examples } from '../frame/command.ts'
import { tokenFor } from '../frame/connection.ts'
import { Failure } from '../frame/failures.ts'

/** `mcp`: serves the tools of the service to an assistant on this machine. */
export function registerMcp({ program, run }: Cli): void {
  program
    .command('mcp')
    .summary('serve the tools of the service to a local MCP client')
    .description(
      'Serves the tools of the service to an assistant on this machine, over standard input and output. The assistant ' +
        'starts this command, and works with your login. What you need to know is told on standard error.',
    )
    .addHelpText('after', examples(['mcp --origin https://documents.example', 'with one of several logins']))
    .action(() =>
      run(async ({ out, env, logins, origin: originOfCall }) => {
        const origin = await originOfCall()
        const token = await tokenFor(origin, { env, logins })
        // The library of the protocol takes a moment to load, for which no other command has to wait.
        const { bridge } = await import('../mcp/bridge.ts')
        const end = await bridge({
          input: process.stdin,
          write: (line) => out.text(line),
          endpoint: new URL('/mcp', origin),
          token,
          tell: (text) => out.note(`mcp: ${text}`),
        })
        if (end === 'hung_up') return
        throw new Failure('denied', 'invalid_token', {
          message: `${origin} does not accept the token: it is wrong, has expired or was revoked.`,
          hint: `Sign in with "knowledge-base login", or put a token of ${origin}/account/tokens into KB_TOKEN.`,
        })
      }),
    )
}
