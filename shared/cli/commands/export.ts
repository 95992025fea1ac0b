import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable, Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { type Cli, type Context, examples } from '../frame/command.ts'
import { Failure } from '../frame/failures.ts'
import { knowledgeBaseNamed } from '../frame/names.ts'
import type { Output } from '../terminal/output.ts'
import { bytesText } from '../terminal/quantities.ts'

type Options = { force?: boolean }

/** `export`: downloads a knowledge base as a zip. */
export function registerExport({ program, run }: Cli): void {
  program
    .command('export')
    .argument('<base>', 'knowledge base: id, address or name')
    .argument('[file]', 'the zip to make, or - for standard output; knowledge-base-<id>.zip without this argument')
    .summary('download a knowledge base as a zip')
    .description(
      'Downloads a knowledge base as a zip: its documents as JSON and as Markdown, its files, and a manifest. "import" ' +
        'reads such a zip. The file appears when the download is whole.',
    )
    .option('--force', 'replace a file that exists')
    .addHelpText(
      'after',
      examples(['export Zoo', 'into knowledge-base-12.zip'], ['export Zoo - > zoo.zip', 'into a pipe']),
    )
    .action((name: string, file: string | undefined, options: Options) =>
      run((context) => download(context, { name, file, options })),
    )
}

async function download(
  context: Context,
  input: { name: string; file: string | undefined; options: Options },
): Promise<void> {
  const { out, connect, interrupts } = context
  const connection = await connect()
  const id = await knowledgeBaseNamed(connection, input.name)
  const file = input.file ?? `knowledge-base-${id}.zip`
  refuse({ file, out, isForced: input.options.force === true })
  const { data } = await connection.service.downloadExport(id, { signal: interrupts.signal })
  if (file === '-') return void (await receive(data, process.stdout, out))
  const part = `${file}.${process.pid}.part`
  const remove = () => rm(part, { force: true })
  const keep = interrupts.onInterrupt(remove)
  try {
    const bytes = await receive(data, createWriteStream(part), out)
    await rename(part, file)
    out.answer({ knowledge_base_id: id, file, bytes }, () => out.line(`${file}: ${bytesText(bytes)}`))
  } catch (error) {
    await remove()
    throw error
  } finally {
    keep()
  }
}

function refuse({ file, out, isForced }: { file: string; out: Output; isForced: boolean }): void {
  if (file === '-' && (out.isTerminal || out.json)) {
    throw new Failure('usage', 'usage', {
      message: 'A zip goes into a pipe or a file, not to a terminal, nor beside JSON.',
    })
  }
  if (file !== '-' && existsSync(file) && !isForced) {
    throw new Failure('failed', 'file_exists', {
      message: `${file} exists.`,
      hint: 'Name another file, or replace it with --force.',
    })
  }
}

// Writes all bytes of the download and counts them. A download that breaks off is an error, never a shorter file.
async function receive(data: unknown, target: Writable, out: Output): Promise<number> {
  let bytes = 0
  let shownAt = 0
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length
      if (Date.now() - shownAt > 200) {
        shownAt = Date.now()
        out.progress(`${bytesText(bytes)} received`)
      }
      done(null, chunk)
    },
  })
  await pipeline(Readable.fromWeb(data as ReadableStream), counter, target)
  return bytes
}
