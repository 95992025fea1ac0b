import { wholeNumber } from '../frame/arguments.ts'
import { type Cli, examples } from '../frame/command.ts'
import { documentNamed } from '../frame/names.ts'
import { showUnified } from './diff.ts'

/** `restore`: brings back a kept version of a document. */
export function registerRestore({ program, run }: Cli): void {
  program
    .command('restore')
    .argument('<document>', 'id, svc://doc/…, address of the page, or path')
    .argument('<version>', 'number of the version, as "history" lists it', wholeNumber)
    .summary('bring back a kept version of a document')
    .description('Brings back a kept version of a document. The present text is kept as a version, too.')
    .option('--dry-run', 'only show what would change')
    .addHelpText(
      'after',
      examples(
        ['restore Zoo/Mammals/Elephants 7 --dry-run', 'what would change?'],
        ['restore Zoo/Mammals/Elephants 7', 'bring version 7 back'],
      ),
    )
    .action((name: string, seq: number, { dryRun = false }: { dryRun?: boolean }) =>
      run(async ({ out, connect }) => {
        const connection = await connect()
        const { api } = connection.service
        const { id } = await documentNamed(connection, name)
        const { data: document } = await api.GET('/documents/{id}', { params: { path: { id } } })
        const { data } = await api.POST('/documents/{id}/versions/{seq}/rollback', {
          params: {
            path: { id, seq },
            header: { 'If-Match': document.version },
            ...(dryRun && { query: { dry_run: true } }),
          },
        })
        if (!dryRun || out.json) {
          return out.answer(data, () => out.line(`"${document.title}" is as it was in version ${seq}.`))
        }
        const query = { from: 'current', to: String(seq), format: 'markdown' } as const
        const diff = await api.GET('/documents/{id}/diff', { params: { path: { id }, query } })
        showUnified(out, diff.data.content ?? '')
      }),
    )
}
