import { type Cli, examples, idsOption } from '../frame/command.ts'
import type { SyncCall } from '../sync/sync-command.ts'

/** `sync`: keeps a folder of Markdown in step with a knowledge base. */
export function registerSync({ program, run }: Cli): void {
  program
    .command('sync')
    .argument('<dir>', 'folder of Markdown files; made if it is missing')
    .argument('[place]', 'knowledge base or folder of the service; needed the first time')
    .summary('keep a folder of Markdown in step with a knowledge base')
    .description(
      'Carries the changes of each side to the other: texts, titles, tags, properties, renames, moves and deletions. ' +
        'Changes of different blocks of a document are merged. If both sides have changed the same block, the file gets ' +
        'the version of the service, and yours is kept beside it as NAME.conflict-….md. ' +
        'Hidden files and files that are no Markdown are left alone.',
    )
    .option('--dry-run', 'only show what would be done')
    .option('--watch', 'go on until Ctrl-C, and carry over each change at once')
    .option('--yes', 'also delete more than 10 % of the documents or files')
    .addOption(idsOption())
    .addHelpText(
      'after',
      `\nExit codes: 3 if a conflict was kept, 1 if a document failed or deletions were left out.\n${examples(
        ['sync notes Zoo', 'the first time: the folder "notes" and the knowledge base "Zoo"'],
        ['sync notes', 'from then on'],
        ['sync notes --dry-run', 'what would happen?'],
        ['sync notes --watch', 'while you write'],
        ['sync mammals folders/12', 'only a folder of a knowledge base'],
      )}`,
    )
    .action((dir: string, place: string | undefined, options: SyncCall['options']) =>
      run(async (context) => {
        // The libraries that read Markdown files take a moment to load, for which no other command has to wait.
        const { sync } = await import('../sync/sync-command.ts')
        await sync(context, { dir, place, options })
      }),
    )
}
