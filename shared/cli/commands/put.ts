import { Option } from 'commander'
import type { components } from '../../client/client.ts'
import { contentOf, type Format, formatOption, showDifference, tellWarnings, textOf } from '../editing/texts.ts'
import { type ChangeOptions, dryRunOption, guarded, ifMatchOption } from '../frame/changes.ts'
import { type Cli, type Context, examples, type IdPolicy, idsOption } from '../frame/command.ts'
import { Failure } from '../frame/failures.ts'
import { documentNamed } from '../frame/names.ts'
import type { Output } from '../terminal/output.ts'

const documentArgument = ['<document>', 'id, svc://doc/…, address of the page, or path'] as const
const fileArgument = ['[file]', 'the text: a file, or - for standard input', '-'] as const

type PutOptions = ChangeOptions & { format: Format; ids: IdPolicy; force?: boolean }

/** `put`: replaces the text of a document. */
export function registerPut({ program, run }: Cli): void {
  program
    .command('put')
    .argument(...documentArgument)
    .argument(...fileArgument)
    .summary('replace the text of a document')
    .description(
      'Replaces the text of a document by that of a file or of standard input. Say which text you replace: with ' +
        '--if-match the "version" that "cat --json" has printed, or with --force whatever is there.',
    )
    .addOption(ifMatchOption())
    .addOption(new Option('--force', 'replace whatever is there; "history" keeps it').conflicts('ifMatch'))
    .addOption(formatOption())
    .addOption(idsOption())
    .addOption(dryRunOption())
    .addHelpText('after', examples(['put Zoo/Log log.md --if-match sha256:4f2a…', 'unless somebody has changed it']))
    .action((name: string, file: string, options: PutOptions) =>
      run((context) => put(context, { name, file }, options)),
    )
}

type Named = { name: string; file: string }

async function put({ out, connect }: Context, { name, file }: Named, options: PutOptions): Promise<void> {
  const { format, ids, force, dryRun = false, ifMatch } = options
  const guard = ifMatch ?? (force || dryRun ? '*' : undefined)
  if (guard === undefined) {
    throw new Failure('usage', 'guard_missing', {
      message: 'Say which text is replaced: --if-match VERSION, or --force for whatever is there.',
      hint: '"cat DOCUMENT --json" prints the version, and --dry-run shows what would change.',
    })
  }
  const body = contentOf(await textOf(file), format)
  const connection = await connect()
  const { id } = await documentNamed(connection, name)
  const query = { ids, ...(dryRun && { dry_run: true }) }
  const params = { path: { id }, query, header: { 'If-Match': guard } }
  const { data } = await connection.service.api.PUT('/documents/{id}/content', { params, body })
  answer(out, { data, dryRun })
}

type AppendOptions = ChangeOptions & { section?: string }

/** `append`: adds text to the end of a document. */
export function registerAppend({ program, run }: Cli): void {
  program
    .command('append')
    .argument(...documentArgument)
    .argument(...fileArgument)
    .summary('add text to the end of a document')
    .description('Adds the Markdown of a file or of standard input to the end of a document, or of a section of it.')
    .option('--section <heading>', 'to the end of the section below this heading')
    .addOption(ifMatchOption())
    .addOption(dryRunOption())
    .addHelpText('after', examples(['append Zoo/Log today.md --section Today', 'to a section of a log']))
    .action((name: string, file: string, options: AppendOptions) =>
      run(async ({ out, connect }) => {
        const { section, dryRun = false } = options
        const edit = { op: 'append', markdown: await textOf(file), ...(section && { section }) } as const
        const connection = await connect()
        const { id } = await documentNamed(connection, name)
        const params = { path: { id }, ...(dryRun && { query: { dry_run: true } }), ...guarded(options) }
        const { api } = connection.service
        const { data } = await api.POST('/documents/{id}/content/edit', { params, body: { edits: [edit] } })
        answer(out, { data, dryRun })
      }),
    )
}

type Written = {
  document_id: string
  version: string
  diff?: components['schemas']['DocumentDifference']
  warnings: { message: string }[]
}

function answer(out: Output, { data, dryRun }: { data: Written; dryRun: boolean }): void {
  const { document_id, version, diff, warnings } = data
  out.answer(data, () => {
    tellWarnings(out, warnings)
    if (dryRun) showDifference(out, diff?.blocks)
    else out.line(`Stored: ${document_id}, version ${version}`)
  })
}
