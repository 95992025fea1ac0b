import type { Root, RootContent } from 'mdast'
import { remark } from 'remark'
import remarkFrontmatter from 'remark-frontmatter'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'
import type { Options } from 'remark-stringify'
import { dollarMath } from './dollar-math.ts'
import type { Extension } from './grammar.ts'
import { highlight, highlightFromMarkdown } from './highlight.ts'
import { markLiteralSigns, withEscapes } from './literal-signs.ts'

type ConstructName = Extract<NonNullable<NonNullable<Options['unsafe']>[number]['inConstruct']>, string>
type Handler = NonNullable<NonNullable<Options['handlers']>[keyof NonNullable<Options['handlers']>]>

// Tags that cannot end a paragraph at the start of a line. Any other tag is treated as if it ended the paragraph.
const phrasingTag = /^<\/?(a|abbr|b|br|cite|code|del|em|i|img|ins|kbd|mark|q|s|small|span|strong|sub|sup|u|var)\b/i

// Writes a text. A line end beside white space, raw HTML or the edge of a block is written as a character reference.
// Otherwise the parser would trim the line end, or end the construct around it.
const safeText: Handler = (node, parent, state, info) => {
  const siblings = parent?.children ?? []
  const index = state.indexStack.at(-1) ?? 0
  const around = { ...info, beforeNode: siblings[index - 1], afterNode: siblings[index + 1] }
  let value = withEscapes(node, around, (text, config) => state.safe(text, config))
  // At the start of a block, a footnote reference and a colon would define the footnote, so the colon is escaped.
  if (index === 1 && siblings[0]?.type === 'footnoteReference') value = value.replace(/^:/, '\\:')
  const opensLine = index === 1 && siblings[0]?.type === 'html'
  if (value.startsWith('\n') && (opensLine || /(^|\s)$/.test(info.before))) value = `&#xA;${value.slice(1)}`
  if (value.endsWith('\n') && (opensBlock(siblings[index + 1]) || /^($|\s)/.test(info.after))) {
    value = `${value.slice(0, -1)}&#xA;`
  }
  return state.stack.includes('tableCell') ? codeEdges(value, index, siblings.length) : value
}

// Writes white space at the edges of a cell as character references, because the parser trims cells. The writer of
// remark does so only at the start of a line, and a cell is within a line.
function codeEdges(value: string, index: number, length: number): string {
  const coded = (space: string) => (space === ' ' ? '&#x20;' : '&#x9;')
  const start = index === 0 ? value.replace(/^[ \t]/, coded) : value
  if (index < length - 1) return start
  // A backslash before the character reference would make the reference text, so such a backslash is doubled.
  return start.replace(/(\\?)([ \t])$/, (_, slash: string, space: string) => `${slash}${slash}${coded(space)}`)
}

function opensBlock(next: { type: string; value?: string } | undefined): boolean {
  return next?.type === 'html' && !phrasingTag.test(next.value ?? '')
}

// Writes the blocks of a body one by one, and returns the JSON text of the list of their texts. Two adjacent lists take
// different bullets, unless anchors separate them.
const segments: Handler = (node, _, state, info) => {
  const results: string[] = []
  for (const child of node.children) {
    if (child.type === 'segmentBreak') {
      state.bulletLastUsed = child.bullet
      continue
    }
    results.push(state.handle(child, node, state, { ...info, before: '\n', after: '\n' }))
    if (child.type !== 'list') state.bulletLastUsed = undefined
  }
  return JSON.stringify(results)
}

// The constructs of an image in which neither math nor a highlight can begin.
const addresses: ConstructName[] = ['destinationLiteral', 'destinationRaw', 'titleQuote']

const settings: Options = {
  bullet: '-',
  emphasis: '*',
  fences: true,
  listItemIndent: 'one',
  resourceLink: false,
  rule: '_',
  handlers: { text: safeText, segments } as Options['handlers'],
  unsafe: [
    { character: '\r' },
    { character: '<', inConstruct: 'destinationRaw' },
    { character: '$', before: '\\$', inConstruct: 'phrasing' },
    { character: '$', after: '\\$', inConstruct: 'phrasing' },
    { character: '$', inConstruct: 'image', notInConstruct: addresses },
    { character: '=', after: '=', inConstruct: 'image', notInConstruct: addresses },
    { character: '\n', inConstruct: 'titleQuote' },
    { character: '\n', before: '[\\t ]', inConstruct: ['label', 'phrasing'] },
    { character: '\n', after: '[\\t ]', inConstruct: ['label', 'phrasing'] },
    { character: '\n', before: '[\\r\\n]', inConstruct: 'label' },
    { character: '\n', after: '[\\r\\n]', inConstruct: 'label' },
  ],
}

const dialect = remark()
  .use(remarkFrontmatter)
  .use(remarkGfm, { tablePipeAlign: false })
  .use(remarkMath, { singleDollarTextMath: false })
  .use(readSigns)
  .use(keepEscapedAddresses)

const processor = dialect().data('settings', settings).freeze()
// Looking for an email address at the start of each word takes half of the time in which prose is read.
const withoutEmail = dialect().use(readNoEmail).freeze()

/** The mdast tree of a Markdown text, with positions. */
export function parseTree(markdown: string): Root {
  return (markdown.includes('@') ? processor : withoutEmail).parse(markdown) as Root
}

/**
 * A block to be written, as its flow nodes. `after` says what stands directly above the block. It is `previous` for the
 * block before in the same call, the bullet of a list, or null for anything else.
 */
export type Flow = { nodes: RootContent[]; after: 'previous' | { bullet: string } | null }

/** Writes the Markdown of each block from its flow nodes. */
export function writeFlow(blocks: Flow[]): string[] {
  for (const { nodes } of blocks) markLiteralSigns(nodes)
  const children = blocks.flatMap(({ nodes, after }) => {
    return after === 'previous' ? nodes : [{ type: 'segmentBreak', bullet: after?.bullet }, ...nodes]
  })
  const texts = JSON.parse(processor.stringify({ type: 'segments', children } as unknown as Root)) as string[]
  let next = 0
  return blocks.map(({ nodes }) => {
    next += nodes.length
    return texts.slice(next - nodes.length, next).join('\n\n')
  })
}

type Extensions = { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] }

/**
 * A plugin of remark that reads math between single dollars and highlights between `==`. The writer uses neither form.
 */
function readSigns(this: { data: () => Extensions }): void {
  const data = this.data()
  data.micromarkExtensions = [...(data.micromarkExtensions ?? []), dollarMath, highlight]
  data.fromMarkdownExtensions = [...(data.fromMarkdownExtensions ?? []), highlightFromMarkdown]
}

// A plugin of remark that removes GFM's construct for bare email addresses.
function readNoEmail(this: { data: () => Extensions }): void {
  const data = this.data()
  data.micromarkExtensions = (data.micromarkExtensions as Extension[]).map(({ text = {}, ...rest }) => {
    const constructs = Object.entries(text).map(([code, listed]) => {
      return [code, [listed ?? []].flat().filter(({ name }) => name !== 'emailAutolink')] as const
    })
    return { ...rest, text: Object.fromEntries(constructs.filter(([, left]) => left.length > 0)) }
  })
}

// A plugin of remark that removes GFM's transform of bare addresses. The tokeniser already links bare addresses. The
// transform does not see escapes, so it would also link an address where an escape forbids a link.
function keepEscapedAddresses(this: { data: () => Extensions }): void {
  const data = this.data()
  data.fromMarkdownExtensions = (data.fromMarkdownExtensions ?? []).flat(3).map((extension) => {
    const { transforms: _, ...rest } = extension as { transforms?: unknown; enter?: Record<string, unknown> }
    return rest.enter && 'literalAutolink' in rest.enter ? rest : extension
  })
}
