import { type Cli, examples } from '../frame/command.ts'

/** `bases`: the knowledge bases of the caller. */
export function registerBases({ program, run }: Cli): void {
  program
    .command('bases')
    .summary('list the knowledge bases')
    .description(
      'Lists the knowledge bases that you can see, with their ids and the numbers of their documents and folders.',
    )
    .addHelpText(
      'after',
      examples(['bases', 'what is there?'], ["bases --json | jq '.[].name'", 'the names for a program']),
    )
    .action(() =>
      run(async ({ out, connect }) => {
        const { service } = await connect()
        const bases = await Array.fromAsync(service.items('/knowledge-bases'))
        out.answer(bases, () =>
          out.table([
            ['ID', 'DOCUMENTS', 'FOLDERS', 'NAME'].map((text) => ({ text, style: 'bold' })),
            ...bases.map(({ id, document_count, folder_count, name }) =>
              [id, document_count, folder_count, name].map(String),
            ),
          ]),
        )
      }),
    )
}
