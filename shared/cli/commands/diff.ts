import { type Cli, examples } from '../frame/command.ts'
import { documentNamed } from '../frame/names.ts'
import type { Output } from '../terminal/output.ts'
import type { Style } from '../terminal/terminal-text.ts'

type Options = { from?: string; to?: string }

/** `diff`: what distinguishes two versions of a document. */
export function registerDiff({ program, run }: Cli): void {
  program
    .command('diff')
    .argument('<document>', 'id, svc://doc/…, address of the page, or path')
    .summary('compare two versions of a document')
    .description('Compares two versions of a document; by default, what the last write has changed.')
    .option('--from <version>', 'number of a version, or "current"; the newest version without this option')
    .option('--to <version>', 'number of a version, or "current"', 'current')
    .addHelpText(
      'after',
      examples(
        ['diff Zoo/Mammals/Elephants', 'what did the last write change?'],
        ['diff Zoo/Mammals/Elephants --from 7 --to 9', 'between two versions'],
        ['diff Zoo/Mammals/Elephants --json', 'blocks and words, for a program'],
      ),
    )
    .action((name: string, options: Options) =>
      run(async ({ out, connect }) => {
        const connection = await connect()
        const { id } = await documentNamed(connection, name)
        const query = { format: out.json ? 'json' : 'markdown', ...options } as const
        const { data } = await connection.service.api.GET('/documents/{id}/diff', { params: { path: { id }, query } })
        out.answer(data, () => showUnified(out, data.content ?? ''))
      }),
    )
}

/** Prints a unified difference, coloured as people know it. */
export function showUnified(out: Output, unified: string): void {
  const lines = unified.replace(/\n$/, '').split('\n')
  if (unified !== '') for (const line of lines) out.textLine(line, styleOf(line))
}

function styleOf(line: string): Style | null {
  if (/^(---|\+\+\+) /.test(line)) return 'bold'
  const styles: Record<string, Style> = { '+': 'green', '-': 'red', '@': 'cyan' }
  return styles[line[0] ?? ''] ?? null
}
