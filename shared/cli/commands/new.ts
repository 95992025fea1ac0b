import { contentOf, type Format, formatOption, tellWarnings, textOf } from '../editing/texts.ts'
import { type Change, carryOut, dryRunOption, labelOf, locationOf } from '../frame/changes.ts'
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
    .addHelpText('after', examples(["new Zoo 'Log of today' log.md --json", 'a document from a file, in a script']))
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
  const folder = { name: title, ...locationOf(found, 'parent_id') }
  const document = { title, ...locationOf(found, 'folder_id'), ...(content && { content }) }
  const change: Change<{ id: string | number; warnings?: { message: string }[] }> = {
    word: 'Created',
    told: `"${title}" in ${labelOf(found)}`,
    request: options.folder ? folder : document,
    make: () => (options.folder ? api.POST('/folders', { body: folder }) : api.POST('/documents', { body: document })),
    show: ({ id, warnings }) => {
      tellWarnings(out, warnings)
      out.line(`Created: "${title}" (${options.folder ? `folders/${id}` : id})`)
    },
  }
  await carryOut(out, [change], options)
}
