import { contentOf, type Format, formatOption, tellWarnings, textOf } from '../editing/texts.ts'
import { type Change, carryOut, dryRunOption, labelOf, locationOf, parentOf } from '../frame/changes.ts'
import { type Cli, type Context, examples } from '../frame/command.ts'
import { Failure } from '../frame/failures.ts'
import { placeNamed } from '../frame/names.ts'

type Options = { format: Format; folder?: boolean; dryRun?: boolean }

/** `new`: makes a document or a folder. */
export function registerNew({ program, run }: Cli): void {
  program
    .command('new')
    .argument('<place>', 'knowledge base or folder: id, address or path')
    .argument('<title>', 'title of the document, or name of the folder')
    .argument('[file]', 'its text: a file, or - for standard input; empty without one')
    .summary('create a document or folder')
    .description('Creates a document with the text of a file, an empty document, or a folder. Prints its id.')
    .option('--folder', 'create a folder')
    .addOption(formatOption())
    .addOption(dryRunOption())
    .addHelpText(
      'after',
      examples(
        ['new Zoo/Mammals Elephants elephants.md', 'a document from a file'],
        ["date | knowledge-base new Zoo 'Log of today' - --json | jq -r .id", 'from standard input, in a script'],
        ['new Zoo Birds --folder', 'a folder'],
      ),
    )
    .action((place: string, title: string, file: string | undefined, options: Options) =>
      run((context) => create(context, { place, title, file }, options)),
    )
}

type Named = { place: string; title: string; file: string | undefined }

async function create({ out, connect }: Context, { place, title, file }: Named, options: Options): Promise<void> {
  if (options.folder && file !== undefined) {
    throw new Failure('usage', 'usage', { message: 'A folder has no text.' })
  }
  const content = file === undefined ? undefined : contentOf(await textOf(file), options.format)
  const connection = await connect()
  const { api } = connection.service
  const found = await placeNamed(connection, place)
  const told = `"${title}" in ${labelOf(found)}`
  const show = (id: string) => out.line(`Created: "${title}" (`, { text: id, style: 'bold' }, ')')
  if (options.folder) {
    const body = { name: title, ...parentOf(found) }
    const make = () => api.POST('/folders', { body })
    return carryOut(out, [{ ...created, told, request: body, make, show: ({ id }) => show(`folders/${id}`) }], options)
  }
  const body = { title, ...locationOf(found), ...(content && { content }) }
  const change: Change<{ id: string; warnings: { message: string }[] }> = {
    ...created,
    told,
    request: body,
    make: () => api.POST('/documents', { body }),
    show: ({ id, warnings }) => {
      tellWarnings(out, warnings)
      show(id)
    },
  }
  return carryOut(out, [change], options)
}

const created = { word: 'created' } as const
