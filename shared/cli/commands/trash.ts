import type { components } from '../../client/client.ts'
import { type Change, carryOut, dryRunOption, labelOf, locationOf } from '../frame/changes.ts'
import { type Cli, type Context, examples } from '../frame/command.ts'
import type { Connection } from '../frame/connection.ts'
import { Failure } from '../frame/failures.ts'
import { placeNamed } from '../frame/names.ts'
import { timeText } from '../terminal/quantities.ts'

type TrashEntry = components['schemas']['TrashEntry']
type RestoreOptions = { to?: string; dryRun?: boolean }

/** `trash`: what was deleted, and its way back. */
export function registerTrash({ program, run }: Cli): void {
  const trash = program
    .command('trash')
    .summary('list and restore what was deleted')
    .description('Lists the documents, folders and knowledge bases that were deleted, and restores them.')
    .addHelpText('after', examples(['trash list', 'what was deleted?'], ['trash restore doc_01J9Z3V5K8', 'restore it']))
  trash
    .command('list')
    .summary('list what was deleted')
    .description('Lists what was deleted, the newest first.')
    .action(() => run(list))
  trash
    .command('restore')
    .argument('<ids...>', 'ids of the trash, or of what was deleted: doc_…, folders/34, 12')
    .summary('restore what was deleted')
    .description('Restores documents, folders and knowledge bases with everything that was deleted with them.')
    .option('--to <place>', 'knowledge base or folder to restore to, in place of the old one')
    .addOption(dryRunOption())
    .addHelpText('after', examples(['trash restore doc_01J9Z3V5K8 --to Zoo', 'restore a document to another place']))
    .action((ids: string[], options: RestoreOptions) => run((context) => restore(context, ids, options)))
}

async function list({ out, connect }: Context): Promise<void> {
  const { service } = await connect()
  const entries = await Array.fromAsync(service.items('/trash'))
  out.answer(entries, () =>
    out.table([
      ['ID', 'DELETED', 'PATH'].map((text) => ({ text, style: 'bold' })),
      ...entries.map((entry) => [shortName(entry), timeText(entry.deleted_at), entry.path_text]),
    ]),
  )
}

async function restore({ out, connect }: Context, ids: readonly string[], options: RestoreOptions): Promise<void> {
  const connection = await connect()
  const place = options.to === undefined ? null : await placeNamed(connection, options.to)
  const body = place === null ? {} : locationOf(place, 'folder_id')
  const entries = await entriesOf(connection, ids)
  const changes = entries.map((entry): Change => {
    const { id, type, resource_id, name } = entry
    return {
      word: 'Restored',
      told: `"${name}" (${shortName(entry)})${place === null ? '' : ` to ${labelOf(place)}`}`,
      request: { trash_id: id, type, id: resource_id, ...body },
      make: () => connection.service.api.POST('/trash/{id}/restore', { params: { path: { id } }, body }),
    }
  })
  await carryOut(out, changes, options)
}

// The newest entry of each id.
async function entriesOf({ service }: Connection, ids: readonly string[]): Promise<TrashEntry[]> {
  const entries = await Array.fromAsync(service.items('/trash', { params: { query: { limit: 100 } } }))
  return ids.map((id) => {
    const found = entries.find((entry) => entry.id === id || shortName(entry) === id)
    if (found !== undefined) return found
    throw new Failure('notFound', 'trash_not_found', { message: `${id} is not in the trash. See "trash list".` })
  })
}

function shortName({ type, resource_id: id }: TrashEntry): string {
  return type === 'folder' ? `folders/${id}` : String(id)
}
