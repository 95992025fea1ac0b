import {
  type Change,
  type ChangeOptions,
  carryOut,
  dryRunOption,
  type Entry,
  entriesNamed,
  guarded,
  ifMatchOption,
  labelOf,
  locationOf,
} from '../frame/changes.ts'
import { type Cli, type Context, examples } from '../frame/command.ts'
import { Failure } from '../frame/failures.ts'
import { placeNamed } from '../frame/names.ts'

type Options = ChangeOptions & { to?: string; name?: string }

/** `mv`: moves and renames documents and folders. */
export function registerMv({ program, run }: Cli): void {
  program
    .command('mv')
    .argument('<names...>', 'documents and folders: ids, addresses or paths')
    .summary('move or rename documents and folders')
    .description('Moves documents and folders to another place, or gives a document or folder another name, or both.')
    .option('--to <place>', 'knowledge base or folder to move to')
    .option('--name <name>', 'new title of a document, or new name of a folder')
    .addOption(ifMatchOption())
    .addOption(dryRunOption())
    .addHelpText('after', examples(['mv Zoo/Owls Zoo/Storks --to Zoo/Birds', 'move two documents into a folder']))
    .action((names: string[], options: Options) => run((context) => move(context, names, options)))
}

async function move({ out, connect }: Context, names: readonly string[], options: Options): Promise<void> {
  const { to, name } = options
  if ((to ?? name) === undefined || (name !== undefined && names.length > 1)) {
    throw new Failure('usage', 'usage', { message: 'Move with --to PLACE, or rename one thing with --name NAME.' })
  }
  const connection = await connect()
  const { api } = connection.service
  const place = to === undefined ? null : await placeNamed(connection, to)
  const entries = await entriesNamed(connection, names, options)
  const told = `${place === null ? '' : ` to ${labelOf(place)}`}${name === undefined ? '' : ` as "${name}"`}`
  const word = place === null ? 'Renamed' : 'Moved'
  const change = (entry: Entry): Change => {
    const { type, id, label } = entry
    if (type === 'folder') {
      const body = { ...(name !== undefined && { name }), ...(place && locationOf(place, 'parent_id')) }
      const make = () => api.PATCH('/folders/{id}', { params: { path: { id } }, body })
      return { word, told: label + told, request: { type, id, ...body }, make }
    }
    const body = { ...(name !== undefined && { title: name }), ...(place && locationOf(place, 'folder_id')) }
    const make = () => api.PATCH('/documents/{id}', { params: { path: { id }, ...guarded(options) }, body })
    return { word, told: label + told, request: { type, id, ...body }, make }
  }
  await carryOut(out, entries.map(change), options)
}

type RemovalOptions = ChangeOptions & { recursive?: boolean }

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
    .action((names: string[], options: RemovalOptions) => run((context) => remove(context, names, options)))
}

async function remove({ out, connect }: Context, names: readonly string[], options: RemovalOptions): Promise<void> {
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
