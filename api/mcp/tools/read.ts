import { type Static, Type } from 'typebox'
import type { DocumentOutline, DocumentRead, VersionContent } from '../../../shared/body/schema.ts'
import type { ResolvedDocument } from '../../../shared/documents/schema.ts'
import { Nullable, Version } from '../../../shared/schema/identifiers.ts'
import { readParameters } from '../../routes/body/reading.ts'
import { wrongArguments } from '../arguments.ts'
import { longestWithin, maxTokens, mostWithin, shortName } from '../budget.ts'
import type { Door } from '../door.ts'
import { oneLine } from '../results.ts'
import { tool } from '../tool.ts'

const { around, context_before, context_after, annotate, locale, cursor } = readParameters.properties

const Input = Type.Object({
  document_id: Type.String(),
  view: Type.Optional(Type.Enum(['markdown', 'plain-text', 'outline'], { default: 'markdown' })),
  around,
  context_before,
  context_after,
  annotate: Type.With(annotate, {
    description: 'comments above blocks: `anchors` with the block id (default), `hashes` with the block hash, too',
  }),
  seq: Type.Optional(Type.Integer({ minimum: 1, description: 'a kept version, from history' })),
  locale,
  cursor,
  max_tokens: maxTokens(6000),
})
type Input = Static<typeof Input>

const Section = Type.Object({
  block_id: Nullable(Type.String()),
  level: Type.Integer(),
  title: Type.String(),
  block_count: Type.Integer(),
})
type Section = Static<typeof Section>

const Output = Type.Object({
  document_id: Type.String(),
  title: Type.String(),
  version: Version,
  freshness: Type.Enum(['current', 'kept'], { description: 'kept: the body of a kept version' }),
  text: Type.Optional(Type.String()),
  sections: Type.Optional(Type.Array(Section)),
  truncated: Type.Boolean(),
  next_cursor: Nullable(Type.String()),
})

/** Reads a document or a part of it, within a budget of tokens. */
export const read = tool({
  name: 'read',
  title: 'Read',
  description:
    'Read a document as Markdown: from its start, around a block, as an outline, as a kept version, or in another language. <!-- block=ID --> stands above the block with that id. Go on with next_cursor.',
  input: Input,
  output: Output,
  readOnly: true,
  async run(args, { door }) {
    if (args.seq !== undefined) {
      refuseBesideSeq(args)
      return readVersion(door, args, args.seq)
    }
    return args.view === 'outline' ? readOutline(door, args) : readPart(door, args)
  },
})

// A kept version is shown as a whole, and belongs to the document that was named.
function refuseBesideSeq(args: Input): void {
  const others = (
    ['view', 'around', 'context_before', 'context_after', 'annotate', 'locale', 'cursor'] as const
  ).filter((name) => args[name] !== undefined)
  if (others.length > 0) throw wrongArguments(others.map((name) => ({ name, message: 'cannot stand beside seq' })))
}

// The tokens of an answer without its text: ids, versions, a short title and the cursor, each of them twice.
const aroundText = 600
// A text stands twice in an answer, and line ends and quotes are escaped in JSON.
const timesShown = 2.1

async function readPart(door: Door, args: Input) {
  const { max_tokens: budget = 6000, document_id, locale, view, annotate = 'anchors' } = args
  // A cursor of the route is bound to its budget, so the cursor of this tool carries both.
  const [, given, resumed] = /^(\d{1,5})\.(.+)$/s.exec(args.cursor ?? '') ?? []
  const inner = given === undefined ? Math.floor(Math.max(64, (budget - aroundText) / timesShown)) : Number(given)
  const query = {
    view,
    around: args.around,
    context_before: args.context_before,
    context_after: args.context_after,
    annotate,
    locale,
    max_tokens: inner,
    cursor: args.cursor === undefined ? undefined : (resumed ?? args.cursor),
  }
  const [{ data }, title] = await Promise.all([
    door<Static<typeof DocumentRead>>({ operationId: 'readDocument', params: { id: document_id }, query }),
    titleOf(door, args),
  ])
  const next_cursor = data.next_cursor == null ? null : `${inner}.${data.next_cursor}`
  return longestWithin(data.content ?? '', {
    budget,
    make: (text, isCut) => ({
      structured: {
        document_id: data.document_id,
        title,
        version: data.version,
        freshness: 'current' as const,
        text,
        truncated: isCut || data.truncated === true,
        next_cursor,
      },
      summary: [
        `Document ${data.document_id}, version ${data.version}, current.`,
        ...(isCut ? ['Cut within a block: raise max_tokens to read the rest of it.'] : []),
        ...(next_cursor === null ? [] : [`More: cursor "${next_cursor}".`]),
      ].join(' '),
      untrusted: `title: ${oneLine(title)}\n\n${text}`,
    }),
  })
}

async function readVersion(door: Door, args: Input, seq: number) {
  const { document_id, max_tokens: budget = 6000 } = args
  const [{ data }, title] = await Promise.all([
    door<Static<typeof VersionContent>>({
      operationId: 'getVersionContent',
      params: { id: document_id, seq },
      query: { format: 'markdown', annotate: 'anchors' },
    }),
    titleOf(door, args),
  ])
  return longestWithin(data.content ?? '', {
    budget,
    make: (text, isCut) => ({
      structured: {
        document_id,
        title,
        version: data.version,
        freshness: 'kept' as const,
        text,
        truncated: isCut,
        next_cursor: null,
      },
      summary: `Document ${document_id}, kept version ${seq} (${data.version})${isCut ? ', cut: raise max_tokens' : ''}.`,
      untrusted: `title: ${oneLine(title)}\n\n${text}`,
    }),
  })
}

async function readOutline(door: Door, args: Input) {
  const { document_id, locale, max_tokens: budget = 6000 } = args
  const [{ data }, title] = await Promise.all([
    door<Static<typeof DocumentOutline>>({
      operationId: 'getOutline',
      params: { id: document_id },
      query: { locale },
    }),
    titleOf(door, args),
  ])
  const sections = data.sections.map(
    ({ block_id, level, title, block_count }): Section => ({ block_id, level, title: shortName(title), block_count }),
  )
  return mostWithin(sections, {
    budget,
    make: (shown) => ({
      structured: {
        document_id: data.document_id,
        title,
        version: data.version,
        freshness: 'current' as const,
        sections: [...shown],
        truncated: shown.length < sections.length,
        next_cursor: null,
      },
      summary: `Document ${data.document_id}, version ${data.version}, current; ${data.block_count} blocks, ${shown.length} of ${sections.length} sections. Read a section: around its block_id, context_before 0, context_after block_count-1, at most 100; go on around the last block that was shown.`,
      untrusted: [`title: ${oneLine(title)}`, ...shown.map(sectionLine)].join('\n'),
    }),
  })
}

function sectionLine({ block_id, level, title, block_count }: Section): string {
  return `${'#'.repeat(level)} ${oneLine(title)} (${block_id}, ${block_count} blocks)`
}

async function titleOf(door: Door, { document_id, locale }: Input): Promise<string> {
  const { data } = await door<Static<typeof ResolvedDocument>>({
    operationId: 'getDocument',
    params: { id: document_id },
    query: { locale },
  })
  return shortName(data.title)
}
