import { createHash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { DocumentOutline, DocumentRead, VersionContent } from '../../../shared/body/schema.ts'
import type { ResolvedDocument } from '../../../shared/documents/schema.ts'
import type { Refusal } from '../../../shared/errors/errors.ts'
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
    description: 'comment above blocks: the block id (`anchors`, default), also the hash (`hashes`)',
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
  const others = (['view', 'around', 'context_before', 'context_after', 'annotate', 'locale'] as const).filter(
    (name) => args[name] !== undefined,
  )
  if (others.length > 0) throw wrongArguments(others.map((name) => ({ name, message: 'cannot stand beside seq' })))
}

// The tokens of an answer without its text: ids, versions, a short title and the cursor, each of them twice.
const aroundText = 600
// A text stands twice in an answer, and line ends and quotes are escaped in JSON.
const timesShown = 2.1

async function readPart(door: Door, args: Input) {
  const { max_tokens: budget = 6000, document_id, locale, view, annotate = 'anchors' } = args
  const position = positionOf(args.cursor)
  // A cursor of the route is bound to its budget, so the cursor of this tool carries both.
  const inner = position?.inner ?? Math.floor(Math.max(64, (budget - aroundText) / timesShown))
  const query = {
    view,
    around: args.around,
    context_before: args.context_before,
    context_after: args.context_after,
    annotate,
    locale,
    max_tokens: inner,
    cursor: position === null ? args.cursor : position.page || undefined,
  }
  const [{ data }, title] = await Promise.all([
    door<Static<typeof DocumentRead>>({ operationId: 'readDocument', params: { id: document_id }, query }),
    titleOf(door, args),
  ])
  const next = data.next_cursor == null ? null : cursorOf({ ...atStart, inner, page: data.next_cursor })
  const heading = { document_id: data.document_id, title, version: data.version, freshness: 'current' as const }
  const of = `Document ${data.document_id}, version ${data.version}, current.`
  const page = { inner, page: position?.page ?? '' }
  return shownFrom(data.content ?? '', { position, page, next, budget, heading, of, isPart: data.truncated === true })
}

async function readVersion(door: Door, args: Input, seq: number) {
  const { document_id, max_tokens: budget = 6000 } = args
  const position = positionOf(args.cursor)
  if (args.cursor !== undefined && position === null) throw foreignCursor()
  const [{ data }, title] = await Promise.all([
    door<Static<typeof VersionContent>>({
      operationId: 'getVersionContent',
      params: { id: document_id, seq },
      query: { format: 'markdown', annotate: 'anchors' },
    }),
    titleOf(door, args),
  ])
  const heading = { document_id, title, version: data.version, freshness: 'kept' as const }
  const of = `Document ${document_id}, kept version ${seq} (${data.version}).`
  const page = { inner: 0, page: '' }
  return shownFrom(data.content ?? '', { position, page, next: null, budget, heading, of, isPart: false })
}

/**
 * How far a caller has read. `inner` and `page` are the budget and the cursor of the page of the route. `shown` counts
 * the characters of its text that were shown, and `digest` belongs to this text. Both are empty at the start of a page.
 */
type Position = { inner: number; shown: number; digest: string; page: string }

const atStart = { shown: 0, digest: '' }
const cursorForm = /^(\d{1,5})\.(\d{1,8})\.([\w-]{0,16})\.(.*)$/s

function positionOf(cursor: string | undefined): Position | null {
  const [, inner, shown, digest = '', page = ''] = cursorForm.exec(cursor ?? '') ?? []
  return inner === undefined ? null : { inner: Number(inner), shown: Number(shown), digest, page }
}

function cursorOf({ inner, shown, digest, page }: Position): string {
  return `${inner}.${shown}.${digest}.${page}`
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16)
}

function foreignCursor(): Refusal {
  return wrongArguments([{ name: 'cursor', message: 'belongs to a text that has changed: read again without it' }])
}

type Shown = {
  position: Position | null
  page: Pick<Position, 'inner' | 'page'>
  /** The cursor behind the whole text; null when nothing follows. */
  next: string | null
  budget: number
  heading: { document_id: string; title: string; version: string; freshness: 'current' | 'kept' }
  /** What the summary says about the document. */
  of: string
  /** Whether the document has more than the text. */
  isPart: boolean
}

// Shows a text from a position, as far as the budget goes. What is left goes on with the cursor, in the middle of a
// block if need be, so that nothing is ever left out.
function shownFrom(text: string, { position, page, next, budget, heading, of, isPart }: Shown) {
  const { shown: start, digest: expected } = position ?? atStart
  const digest = digestOf(text)
  if (start > 0 && digest !== expected) throw foreignCursor()
  return longestWithin(text.slice(start), {
    budget,
    make: (some, isCut) => {
      const part = isCut ? wholeLines(some) : some
      const rest = () => cursorOf({ ...page, shown: start + part.length, digest })
      const next_cursor = isCut ? rest() : next
      return {
        structured: { ...heading, text: part, truncated: isCut || isPart || start > 0, next_cursor },
        summary: [of, ...(next_cursor === null ? [] : [`More: cursor "${next_cursor}".`])].join(' '),
        untrusted: `title: ${oneLine(heading.title)}\n\n${part}`,
      }
    },
  })
}

// Ends a part at the end of a line where one is near.
function wholeLines(part: string): string {
  const end = part.lastIndexOf('\n') + 1
  return end > part.length / 2 ? part.slice(0, end) : part
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
