import { renameSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { InvalidArgumentError } from 'commander'
import type { StreamEvent } from '../../client/client.ts'
import { wholeNumber } from '../frame/arguments.ts'
import { type Cli, type Context, examples } from '../frame/command.ts'
import { Failure } from '../frame/failures.ts'
import type { Output } from '../terminal/output.ts'
import { timeText } from '../terminal/quantities.ts'

type Options = { since?: number; cursor?: string; count?: number; documentSet?: string; locale?: string }

/** `events`: follows the changes of documents. */
export function registerEvents({ program, run }: Cli): void {
  program
    .command('events')
    .summary('follow the changes of documents')
    .description(
      'Prints the changes of all documents that you can see, as they happen, until you interrupt it. A connection that ' +
        'breaks is opened again, and no event is missed. With --json each event is a line.',
    )
    .option('--since <event id>', 'begin behind this event; 0 for all that are kept', eventId)
    .option('--cursor <file>', 'keep the last printed event in a file, and begin behind it the next time')
    .option('--count <number>', 'end after so many events', wholeNumber)
    .option('--document-set <id>', 'only documents of this set')
    .option('--locale <tag>', 'only documents in a language')
    .addHelpText(
      'after',
      examples(
        ['events', 'what happens now'],
        ['events --json --cursor ~/.zoo-events | while read event; do …; done', 'every event that was not printed yet'],
      ),
    )
    .action((options: Options) => run((context) => follow(context, options)))
}

async function follow({ out, connect, interrupts }: Context, options: Options): Promise<void> {
  const { service, origin } = await connect()
  const { documentSet, locale, cursor, count = Number.POSITIVE_INFINITY } = options
  const events = service.events({
    lastEventId: options.since ?? (cursor === undefined ? undefined : await kept(cursor)),
    documentSetId: documentSet,
    locale,
    signal: interrupts.signal,
    onOpen(lastEventId) {
      // A run that ends before its first event must not lose what happens until the next run.
      if (cursor !== undefined) keep(cursor, lastEventId)
      out.note({ text: `following ${origin}`, style: 'dim' })
    },
  })
  let shown = 0
  for await (const event of events) {
    out.item(event, () => show(out, event))
    if (event.type === 'auth.revoked') {
      throw new Failure('denied', `token_${event.reason}`, { message: `The token is ${event.reason}.` })
    }
    // The event is printed first: after a crash it comes again rather than never.
    if (cursor !== undefined) {
      await printed()
      keep(cursor, event.event_id)
    }
    shown += 1
    if (shown >= count) return
  }
}

function eventId(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('The number of an event is needed, or 0.')
}

async function kept(file: string): Promise<number | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  if (/^\d{0,15}\n?$/.test(text)) return text === '' ? undefined : Number(text)
  throw new Failure('failed', 'invalid_cursor_file', { message: `${file} holds no number of an event.` })
}

// Resolves when the reader of this program has been given everything that was printed.
function printed(): Promise<void> {
  return new Promise((resolve, reject) => process.stdout.write('', (error) => (error ? reject(error) : resolve())))
}

function keep(file: string, id: number): void {
  writeFileSync(`${file}.new`, `${id}\n`)
  renameSync(`${file}.new`, file)
}

function show(out: Output, event: StreamEvent): void {
  const time = { text: timeText(event.created_at), style: 'dim' } as const
  if ('document' in event) {
    const { title, id } = event.document
    out.line(time, `  ${event.type.replace('document.', '').padEnd(16)}  `, title, '  ', {
      text: `${id} #${event.event_id}`,
      style: 'dim',
    })
  } else if (event.type === 'sync.required') {
    out.line(time, { text: '  events before this one are gone: read again what you keep', style: 'yellow' })
  }
}
