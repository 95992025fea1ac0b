import { type Cli, examples } from '../frame/command.ts'
import { timeText } from '../terminal/quantities.ts'

/** `whoami`: who calls, with what rights. */
export function registerWhoami({ program, run }: Cli): void {
  program
    .command('whoami')
    .summary('say who is signed in, and with what rights')
    .description('Says who is signed in at which service, with which roles and scopes, and until when.')
    .addHelpText('after', examples(['whoami', 'who am I?'], ['whoami --json', 'the same for a program']))
    .action(() =>
      run(async ({ out, connect }) => {
        const { origin, service } = await connect()
        const { data: me } = await service.api.GET('/me')
        out.answer(me, () => {
          const { user, workspaces, scopes, expires_at } = me
          out.table([
            ['Service', origin],
            ['User', `${user.name} <${user.email}>`],
            ...workspaces.map(({ name, role, id }) => ['Workspace', `${name} (${role}, ${id})`]),
            ['Scopes', scopes.join(' ')],
            ['Expires', expires_at === null ? 'never' : timeText(expires_at)],
          ])
        })
      }),
    )
}
