import { InvalidArgumentError, Option } from 'commander'
import type { components } from '../../client/client.ts'
import { repeated, seconds, wholeNumber } from '../frame/arguments.ts'
import { type Cli, type Context, examples } from '../frame/command.ts'
import type { Connection } from '../frame/connection.ts'
import { Failure } from '../frame/failures.ts'
import { documentNamed, placeNamed } from '../frame/names.ts'
import type { Output } from '../terminal/output.ts'
import type { Span } from '../terminal/terminal-text.ts'

type SearchAnswer = components['schemas']['SearchV2Response']
type Hit = components['schemas']['SearchV2Result']

const blockTypes = ['title', 'heading', 'paragraph', 'codeBlock', 'table', 'listItem'] as const

type Options = {
  in?: string
  document?: string
  by?: string
  after?: string
  before?: string
  tag?: string[]
  property?: string[]
  type?: (typeof blockTypes)[number][]
  locale?: string
  sort: 'relevance' | 'updated_at'
  perDocument?: number
  limit: number
  all?: boolean
  plain?: boolean
  typing?: boolean
  wait?: number
}

/** `search`: finds blocks by their words. */
export function registerSearch({ program, run }: Cli): void {
  program
    .command('search')
    .argument('<words...>', 'words, all of which must match')
    .summary('find texts by their words')
    .description(
      'Finds blocks that have all of the words. "a phrase" in quotes, -word, -"a phrase", OR between words, title:word ' +
        'and word* are operators. Write "--" before words that begin with a dash.',
    )
    .option('--in <place>', 'only in a knowledge base or folder: id, address or path')
    .option('--document <document>', 'only in a document')
    .option('--by <user id>', 'only documents that the user changed last')
    .option('--after <time>', 'only documents changed since, such as 2026-11-01')
    .option('--before <time>', 'only documents changed before')
    .option('--tag <tag>', 'only documents with the tag; may be repeated', repeated)
    .option('--property <name=value>', 'only documents with the value; may be repeated', repeated)
    .addOption(new Option('--type <types...>', 'only hits in these blocks').choices(blockTypes))
    .option('--locale <tag>', 'only documents in a language, or "all"')
    .addOption(
      new Option('--sort <order>', 'order of the hits').choices(['relevance', 'updated_at']).default('relevance'),
    )
    .option('--per-document <number>', 'at most so many hits of a document, 1 to 5', wholeNumber)
    .option('--limit <number>', 'how many hits are shown, at most 100', wholeNumber, 20)
    .option('--all', 'every hit, in the order of documents')
    .option('--plain', 'no operators: all signs are part of the words')
    .option('--typing', 'the last word may be the beginning of a word')
    .option(
      '--wait <seconds>',
      'wait so long at most until everything that was written is indexed, up to 10',
      waitSeconds,
    )
    .addHelpText(
      'after',
      examples(
        ['search hundred litres', 'in everything that you can see'],
        ['search \'litr* "a day"\' --in Zoo/Mammals --type paragraph', 'with operators, in a folder'],
        ['search elephant --after 2026-11-01 --tag reviewed --json', 'for a program'],
        ['search -- elephant -milk', 'without a word'],
      ),
    )
    .action((words: string[], options: Options) => run((context) => search(context, words.join(' '), options)))
}

async function search({ out, connect }: Context, words: string, options: Options): Promise<void> {
  const connection = await connect()
  const query = await queryOf(connection, { words, options, hasHighlights: out.isTerminal && !out.json })
  const answer = options.all ? await everyHit(connection, query) : await hits(connection, query)
  out.answer(answer, () => show(out, answer))
}

// The service waits for at most ten seconds.
function waitSeconds(text: string): number {
  if (seconds(text) <= 10) return seconds(text)
  throw new InvalidArgumentError('At most 10 seconds are possible.')
}

type Query = Awaited<ReturnType<typeof queryOf>>

async function queryOf(
  connection: Connection,
  { words, options, hasHighlights }: { words: string; options: Options; hasHighlights: boolean },
) {
  const { by, after, before, tag, type, locale, sort, perDocument, limit, plain, typing, wait } = options
  const place = options.in === undefined ? undefined : await placeNamed(connection, options.in)
  const document = options.document === undefined ? undefined : await documentNamed(connection, options.document)
  return {
    q: words,
    ...(place !== undefined && { [`${place.type}_id` as 'folder_id']: place.id }),
    ...(document !== undefined && { document_id: document.id }),
    ...(by !== undefined && { updated_by: by }),
    ...(after !== undefined && { updated_after: after }),
    ...(before !== undefined && { updated_before: before }),
    ...(tag !== undefined && { tag }),
    ...(options.property !== undefined && { property: propertiesOf(options.property) }),
    ...(type !== undefined && { block_type: type }),
    ...(locale !== undefined && { locale }),
    ...(sort !== 'relevance' && { sort }),
    ...(perDocument !== undefined && { group_by: 'document' as const, per_document: perDocument }),
    ...(!plain && { syntax: 'operators' as const }),
    ...(typing && { typing }),
    ...(hasHighlights && { highlight: true }),
    ...(wait !== undefined && { wait_ms: Math.round(wait * 1000) }),
    limit,
  }
}

function propertiesOf(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
      if (name !== undefined && value !== undefined) return [name, value]
      throw new Failure('usage', 'usage', { message: '--property takes a name and a value, such as status=draft.' })
    }),
  )
}

async function hits({ service }: Connection, query: Query, page = {}): Promise<SearchAnswer> {
  return (await service.api.GET('/search/v2', { params: { query: { ...query, ...page } } })).data
}

// All pages as one answer, with the state of the index that all of them were read from.
async function everyHit(connection: Connection, query: Query): Promise<SearchAnswer> {
  const page = { mode: 'exhaustive', limit: 100 }
  const answer = await hits(connection, query, page)
  let { next_cursor: cursor } = answer.page
  while (cursor !== null) {
    const next = await hits(connection, query, { ...page, cursor })
    answer.results.push(...next.results)
    cursor = next.page.next_cursor
  }
  return { ...answer, page: { has_more: false, next_cursor: null } }
}

function show(out: Output, { results, projection, page, suggestion }: SearchAnswer): void {
  for (const [index, hit] of results.entries()) {
    if (index > 0) out.line()
    out.line({ text: hit.title, style: 'bold' }, ...hit.heading_path.map((heading) => ` › ${heading}`))
    if (hit.matched_in === 'content') out.line('  ', ...excerpt(hit))
    const address = hit.block_id === null ? hit.document_uri : `${hit.document_uri}#block=${hit.block_id}`
    out.line('  ', { text: `${hit.path_text}  ${address}`, style: 'dim' })
  }
  if (results.length === 0) out.line('Nothing was found.')
  if (page.has_more)
    out.note({ text: 'There are more hits: --limit shows up to 100, --all shows every hit.', style: 'dim' })
  if (suggestion) out.note('Did you mean: ', { text: suggestion, style: 'bold' })
  if (projection.complete) return
  const { stale_document_count: stale } = projection
  out.note({
    text: `${stale} documents are not indexed yet, so hits may be missing. --wait waits for them.`,
    style: 'yellow',
  })
}

// The text around a hit. The ranges of the terms count code points.
function excerpt({ context, highlights = [] }: Hit): Span[] {
  const letters = [...`${context.before ?? ''}${context.match}${context.after ?? ''}`]
  const spans: Span[] = []
  let shown = 0
  for (const [start = 0, end = 0] of highlights) {
    spans.push(letters.slice(shown, start).join(''), { text: letters.slice(start, end).join(''), style: 'match' })
    shown = end
  }
  return [...spans, letters.slice(shown).join('')]
}
