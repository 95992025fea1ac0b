import { InvalidArgumentError } from 'commander'
import type { components } from '../../client/client.ts'
import { textOf } from '../editing/texts.ts'
import { type Change, carryOut, dryRunOption } from '../frame/changes.ts'
import { type Cli, type Context, examples } from '../frame/command.ts'
import { Failure } from '../frame/failures.ts'
import { documentNamed } from '../frame/names.ts'

type Options = { expires?: number | 'never'; withPassword?: boolean; stop?: boolean; dryRun?: boolean }
type Share = components['schemas']['PublicShare']

/** `share`: the public link of a document. */
export function registerShare({ program, run }: Cli): void {
  program
    .command('share')
    .argument('<document>', 'id, svc://doc/…, address of the page, or path')
    .summary('create the public link of a document')
    .description('Creates a link by which everybody can read a document, or changes or revokes it. Prints the link.')
    .option('--expires <date>', 'when the link ends, such as 2026-12-31 or 2026-12-31T18:00Z, or "never"', expiry)
    .option('--with-password', 'read a password for the link from standard input')
    .option('--stop', 'revoke the link')
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      examples(
        ['share Zoo/Mammals/Elephants', 'a link for everybody'],
        ['share Zoo/Mammals/Elephants --expires 2026-12-31 --with-password < password.txt', 'with limits'],
        ['share Zoo/Mammals/Elephants --stop', 'close the link'],
      ),
    )
    .action((name: string, options: Options) => run((context) => share(context, name, options)))
}

function expiry(text: string): number | 'never' {
  if (text === 'never') return text
  const time = Date.parse(text)
  if (Number.isNaN(time)) throw new InvalidArgumentError('A date such as 2026-12-31 is needed, or "never".')
  return time
}

async function share({ out, connect }: Context, name: string, options: Options): Promise<void> {
  const { withPassword, stop } = options
  const expires = options.expires === 'never' ? null : options.expires
  if (stop && (withPassword || expires !== undefined)) {
    throw new Failure('usage', 'usage', { message: '--stop takes no other option of the link.' })
  }
  const password = withPassword ? (await textOf('-')).replace(/\r?\n$/, '') : undefined
  const connection = await connect()
  const { api } = connection.service
  const { id } = await documentNamed(connection, name)
  const [existing] = (await api.GET('/public-shares', { params: { query: { document_id: id } } })).data
  const body = { ...(expires !== undefined && { expires_at: expires }), ...(password !== undefined && { password }) }
  // The password is in no output.
  const limits = { ...(expires !== undefined && { expires_at: expires }), ...(withPassword && { has_password: true }) }
  const request = { document_id: id, ...(existing && { share_id: existing.share_id }), ...limits }
  const path = { id: existing?.share_id ?? id }
  const shared: Change<Share> = {
    word: 'shared',
    told: id,
    request,
    make: async () =>
      existing === undefined
        ? api.POST('/documents/{id}/public-share', { params: { path }, body })
        : Object.keys(body).length === 0
          ? { data: existing }
          : api.PATCH('/public-shares/{id}', { params: { path }, body }),
    show: ({ url }) => out.line(url),
  }
  if (!stop) return carryOut(out, [shared], options)
  if (existing === undefined) {
    throw new Failure('notFound', 'share_not_found', { message: `${id} has no public link.` })
  }
  const make = () => api.DELETE('/public-shares/{id}', { params: { path } })
  await carryOut(out, [{ word: 'no longer shared', told: id, request, make }], options)
}
