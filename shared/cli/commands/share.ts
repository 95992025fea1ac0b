import { InvalidArgumentError, Option } from 'commander'
import type { components } from '../../client/client.ts'
import { textOf } from '../editing/texts.ts'
import { type Change, carryOut, dryRunOption } from '../frame/changes.ts'
import { type Cli, type Context, examples } from '../frame/command.ts'
import { Failure } from '../frame/failures.ts'
import { documentNamed } from '../frame/names.ts'

type Options = { expires?: number; withPassword?: boolean; stop?: boolean; dryRun?: boolean }
type Share = components['schemas']['PublicShare']

/** `share`: the public link of a document. */
export function registerShare({ program, run }: Cli): void {
  program
    .command('share')
    .argument('<document>', 'id, svc://doc/…, address of the page, or path')
    .summary('create the public link of a document')
    .description('Creates a link by which everybody can read a document, or changes or revokes it. Prints the link.')
    .option('--expires <date>', 'when the link ends, such as 2026-12-31 or 2026-12-31T18:00Z', expiry)
    .option('--with-password', 'read a password for the link from standard input')
    .addOption(new Option('--stop', 'revoke the link').conflicts(['expires', 'withPassword']))
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      examples(['share Zoo/Owls --expires 2026-12-31 --with-password < password.txt', 'with limits']),
    )
    .action((name: string, options: Options) => run((context) => share(context, name, options)))
}

function expiry(text: string): number {
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new InvalidArgumentError('A date such as 2026-12-31 is needed.')
  return time
}

async function share({ out, connect }: Context, name: string, options: Options): Promise<void> {
  const { withPassword, stop, expires } = options
  const password = withPassword ? (await textOf('-')).replace(/\r?\n$/, '') : undefined
  const connection = await connect()
  const { api } = connection.service
  const { id } = await documentNamed(connection, name)
  const [existing] = (await api.GET('/public-shares', { params: { query: { document_id: id } } })).data
  const body = { ...(expires !== undefined && { expires_at: expires }), ...(password !== undefined && { password }) }
  // The password is in no output.
  const request = { document_id: id, ...body, ...(withPassword && { password: '…' }) }
  const path = { id: existing?.share_id ?? id }
  const shared: Change<Share> = {
    ...{ word: 'Shared', told: id, request },
    make: () =>
      existing === undefined
        ? api.POST('/documents/{id}/public-share', { params: { path }, body })
        : api.PATCH('/public-shares/{id}', { params: { path }, body }),
    show: ({ url }) => out.line(url),
  }
  if (!stop) return carryOut(out, [shared], options)
  if (existing === undefined) throw new Failure('notFound', 'share_not_found', { message: 'There is no public link.' })
  const make = () => api.DELETE('/public-shares/{id}', { params: { path } })
  await carryOut(out, [{ word: 'No longer shared', told: id, request, make }], options)
}
