import type { components } from '../../client/client.ts'
import { wholeNumber } from '../frame/arguments.ts'
import { type Cli, examples } from '../frame/command.ts'
import { documentNamed } from '../frame/names.ts'
import { bytesText, timeText } from '../terminal/quantities.ts'

/** `history`: the kept versions of a document. */
export function registerHistory({ program, run }: Cli): void {
  program
    .command('history')
    .argument('<document>', 'id, svc://doc/…, address of the page, or path')
    .summary('list the kept versions of a document')
    .description('Lists the kept versions of a document, the newest first. Each is the text as it was before a write.')
    .option('--limit <number>', 'how many versions are listed', wholeNumber)
    .addHelpText('after', examples(['history Zoo/Mammals/Elephants', 'who wrote when?']))
    .action((name: string, { limit = Number.POSITIVE_INFINITY }: { limit?: number }) =>
      run(async ({ out, connect }) => {
        const connection = await connect()
        const { id } = await documentNamed(connection, name)
        const versions: components['schemas']['DocumentVersion'][] = []
        for await (const version of connection.service.items('/documents/{id}/versions', {
          params: { path: { id } },
        })) {
          if (versions.length >= limit) break
          versions.push(version)
        }
        out.answer(versions, () =>
          out.table([
            ['VERSION', 'WRITTEN', 'SIZE', 'BY'].map((text) => ({ text, style: 'bold' })),
            ...versions.map(({ seq, created_at, size, created_by }) => [
              String(seq),
              timeText(created_at),
              bytesText(size),
              created_by ?? '',
            ]),
          ]),
        )
      }),
    )
}
