import {
  type ChangeOptions,
  carryOut,
  dryRunOption,
  type Entry,
  entriesNamed,
  guarded,
  ifMatchOption,
} from '../frame/changes.ts'
import { type Cli, type Context, examples } from '../frame/command.ts'
import { Failure } from '../frame/failures.ts'

type Options = ChangeOptions & { recursive?: boolean }

/** `rm`: moves documents and folders to the trash. */
export function registerRm({ program, run }: Cli): void {
  program
    .command('rm')
    .argument('<names...>', 'documents and folders: ids, addresses or paths')
    .summary('move documents and folders to the trash')
    .description('Moves documents, and with --recursive folders, to the trash. "trash restore" restores them.')
    .option('-r, --recursive', 'also folders, with everything in them')
    .addOption(ifMatchOption())
    .addOption(dryRunOption())
    .addHelpText('after', examples(['rm --recursive Zoo/Mammals --dry-run', 'a folder: what would be deleted?']))
    .action((names: string[], options: Options) => run((context) => remove(context, names, options)))
}

async function remove({ out, connect }: Context, names: readonly string[], options: Options): Promise<void> {
  const connection = await connect()
  const { api } = connection.service
  const entries = await entriesNamed(connection, names, options)
  const folder = entries.find(({ type }) => type === 'folder')
  if (folder !== undefined && !options.recursive) {
    const message = `${folder.label} is a folder. --recursive deletes it with everything in it.`
    throw new Failure('usage', 'folder', { message })
  }
  const change = (entry: Entry) => ({
    word: 'Moved to the trash',
    told: entry.label,
    request: { type: entry.type, id: entry.id },
    make: () =>
      entry.type === 'document'
        ? api.DELETE('/documents/{id}', { params: { path: { id: entry.id }, ...guarded(options) } })
        : api.DELETE('/folders/{id}', { params: { path: { id: entry.id } } }),
  })
  await carryOut(out, entries.map(change), options)
}
