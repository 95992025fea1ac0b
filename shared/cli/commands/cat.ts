import { Option } from 'commander'
import { wholeNumber } from '../frame/arguments.ts'
import { type Cli, type Context, examples } from '../frame/command.ts'
import type { Connection } from '../frame/connection.ts'
import { Failure } from '../frame/failures.ts'
import { documentNamed } from '../frame/names.ts'

const formats = ['markdown', 'html', 'tiptap-json', 'plain-text'] as const

type Options = {
  format: (typeof formats)[number]
  block?: string
  version?: number
  anchors?: boolean
  frontMatter?: boolean
  locale?: string
}

/** `cat`: the text of a document, of a version or of one block. */
export function registerCat({ program, run }: Cli): void {
  program
    .command('cat')
    .argument('<document>', 'id, svc://doc/…, address of the page, or path')
    .summary('print a document')
    .description(
      'Prints the text of a document as Markdown. Into a pipe or a file it goes exactly as it is; on a terminal, ' +
        'characters that could command the terminal are shown as escapes.',
    )
    .addOption(new Option('--format <format>', 'form of the text').choices(formats).default('markdown'))
    .option('--block <id>', 'only this block; in Markdown the list, quote or table that holds it')
    .option('--version <number>', 'a kept version, as "history" numbers them', wholeNumber)
    .option('--anchors', 'put the id of each block above it, in Markdown')
    .option('--front-matter', 'write tags and properties above the text, in Markdown')
    .option('--locale <tag>', 'the translation for a language, such as pt-BR')
    .addHelpText(
      'after',
      examples(
        ['cat Zoo/Mammals/Elephants', 'read a document'],
        ['cat doc_01J9Z3V5K8 --version 7 --format html > elephants.html', 'an older version as a page'],
        ['cat svc://doc/doc_01J9Z3V5K8#block=block_01J9Z3V5K8Q2W4E6R7T9Y1P3S5', 'the block of a search hit'],
      ),
    )
    .action((name: string, options: Options) => run((context) => printDocument(context, name, options)))
}

async function printDocument({ out, connect }: Context, name: string, options: Options): Promise<void> {
  const connection = await connect()
  const document = await documentNamed(connection, name)
  const target = { id: document.id, block: options.block ?? document.block }
  refuseContradictions(options, target.block)
  const body = await read(connection, { ...target, options })
  const { content, document: tree } = body as { content?: string; document?: object }
  // JSON is an answer for programs, whether it was asked for as the form of the text or as that of the answer.
  out.answer(body, () => out.text(lineEnded(content ?? JSON.stringify(tree ?? body, null, 2))))
}

// One option would silently be without effect.
function refuseContradictions({ format, version, anchors, frontMatter, locale }: Options, block: string | null): void {
  const wrong = (message: string) => new Failure('usage', 'usage', { message })
  if ((anchors || frontMatter) && (format !== 'markdown' || block !== null)) {
    throw wrong('--anchors and --front-matter are for a whole document as Markdown.')
  }
  if (version !== undefined && (block !== null || frontMatter || locale !== undefined || format === 'plain-text')) {
    throw wrong('--version is for a whole document, and not for plain text, front matter and translations.')
  }
  if (block !== null && format === 'html') throw wrong('A single block cannot be printed as HTML.')
}

type Target = { id: string; block: string | null; options: Options }

async function read({ service }: Connection, { id, block, options }: Target): Promise<object> {
  const { api } = service
  const { format, version, anchors, frontMatter, locale } = options
  const annotate = anchors ? ({ annotate: 'anchors' } as const) : {}
  const language = locale === undefined ? {} : { locale }
  if (block !== null && format === 'markdown') {
    const query = { view: format, max_tokens: 50_000, around: block, context_before: 0, context_after: 0, ...language }
    return (await api.GET('/documents/{id}/read', { params: { path: { id }, query } })).data
  }
  if (block !== null) {
    const params = { path: { id, blockId: block }, query: language }
    const { data } = await api.GET('/documents/{id}/blocks/{blockId}', { params })
    return format === 'plain-text' ? { ...data, content: data.text } : data
  }
  if (format === 'plain-text') return readPlainText(api, { id, language })
  if (version !== undefined) {
    const params = { path: { id, seq: version }, query: { format, ...annotate } }
    return (await api.GET('/documents/{id}/versions/{seq}/content', { params })).data
  }
  const query = { format, ...annotate, ...(frontMatter && { front_matter: true }), ...(locale && { locale }) }
  return (await api.GET('/documents/{id}/content', { params: { path: { id }, query } })).data
}

// A long document comes in parts, which an empty line separates.
async function readPlainText(
  api: Connection['service']['api'],
  { id, language }: { id: string; language: { locale?: string } },
): Promise<object> {
  const parts: string[] = []
  for (let cursor: string | undefined; ; ) {
    const query = { view: 'plain-text', max_tokens: 50_000, ...language, ...(cursor && { cursor }) } as const
    const { data } = await api.GET('/documents/{id}/read', { params: { path: { id }, query } })
    parts.push(data.content ?? '')
    if (data.next_cursor == null) {
      const { document_id, document_uri, version, view } = data
      return { document_id, document_uri, version, view, content: parts.join('\n\n') }
    }
    cursor = data.next_cursor
  }
}

function lineEnded(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}
