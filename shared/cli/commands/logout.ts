import { type Cli, type Context, examples } from '../frame/command.ts'
import { connectAs } from '../frame/connection.ts'
import { Failure } from '../frame/failures.ts'
import type { Logins } from '../frame/logins.ts'

/** `logout`: revokes the kept token and forgets it. */
export function registerLogout({ program, run }: Cli): void {
  program
    .command('logout')
    .summary('revoke the token of the login and forget it')
    .description('Revokes the token that "login" has kept for the service, and removes it from this machine.')
    .option('--forget', 'only remove the token from this machine, where the service cannot be reached')
    .addHelpText(
      'after',
      examples(['logout', 'sign out'], ['logout --origin https://documents.example', 'of a service']),
    )
    .action((options: { forget?: boolean }) => run((context) => logout(context, options)))
}

async function logout({ out, logins, origin }: Context, options: { forget?: boolean }): Promise<void> {
  const from = await origin()
  const login = (await logins.read()).logins[from]
  if (login === undefined) {
    throw new Failure('denied', 'not_signed_in', { message: `No login for ${from} is kept on this machine.` })
  }
  const revoked = options.forget !== true
  if (revoked) {
    await connectAs(undefined, { origin: from, out }).service.api.POST('/auth/revoke', { body: { token: login.token } })
  }
  await logins.update((kept) => without(kept, from))
  out.answer({ origin: from, revoked }, () => out.line(`Signed out of ${from}.`))
}

function without({ default_origin, logins }: Logins, origin: string): Logins {
  const { [origin]: _gone, ...others } = logins
  return {
    default_origin: default_origin === origin ? (Object.keys(others)[0] ?? null) : default_origin,
    logins: others,
  }
}
