import type { Root, RootContent } from 'mdast'
import { attention } from 'micromark-core-commonmark'
import { remark } from 'remark'
import remarkFrontmatter from 'remark-frontmatter'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'
import type { Options } from 'remark-stringify'
import { dollarMath } from './dollar-math.ts'
import { besideAnyLetter, type Extension, isBesideAnyLetter, isWordCharacter } from './grammar.ts'
import { highlight, highlightFromMarkdown } from './highlight.ts'
import { type Labels, markLiteralSigns, withEscapes } from './literal-signs.ts'

type Unsafe = NonNullable<Options['unsafe']>[number]
type Handler = NonNullable<NonNullable<Options['handlers']>[keyof NonNullable<Options['handlers']>]>

// Tags that cannot end a paragraph at the start of a line. Any other tag is treated as if it ended the paragraph.
const phrasingTag = /^<\/?(a|abbr|b|br|cite|code|del|em|i|img|ins|kbd|mark|q|s|small|span|strong|sub|sup|u|var)\b/i

// Writes a text. A line end beside white space, raw HTML or the edge of a block is written as a character reference.
// Otherwise the parser would trim the line end, or end the construct around it.
const safeText: Handler = (node, parent, state, info) => {
  // Nothing can be escaped in an address in angle brackets.
  if (state.stack.includes('autolink')) return node.value
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
  state.unsafe = [...state.unsafe.filter(isNeeded), ...addressSigns]
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

// An image is written as a link behind an exclamation mark, so that the signs in its text are escaped as in a link.
const image: Handler = Object.assign(
  ((node, parent, state, info) => `!${state.handle({ ...node, type: 'link' }, parent, state, info)}`) as Handler,
  { peek: () => '!' },
)

// remark escapes each sign that could be markup somewhere. `markLiteralSigns` does so where the sign is markup.
function isNeeded({ atBreak, character, inConstruct }: Unsafe): boolean {
  const places: readonly string[] = [inConstruct ?? []].flat()
  return (
    !atBreak && (/[\s\\|]/.test(character) || !places.some((place) => /^(phrasing|label|destinationRaw)$/.test(place)))
  )
}

// The signs of addresses, titles and info strings. Parentheses in pairs need no escape.
const addressSigns: Unsafe[] = [
  { character: '<', inConstruct: 'destinationRaw' },
  { character: '(', before: '\\]', inConstruct: 'destinationRaw' },
  { character: '(', after: '(?![^()]*\\))', inConstruct: 'destinationRaw' },
  { character: ')', before: '(?<!(?<!\\])\\([^()]*)', inConstruct: 'destinationRaw' },
  {
    character: '&',
    after: '(?:#\\d+|#[xX][\\da-fA-F]+|[A-Za-z][\\dA-Za-z]*);',
    inConstruct: [
      'destinationLiteral',
      'destinationRaw',
      'titleQuote',
      'codeFencedLangGraveAccent',
      'codeFencedMetaGraveAccent',
    ],
  },
]

const settings: Options = {
  bullet: '-',
  emphasis: '*',
  fences: true,
  listItemIndent: 'one',
  resourceLink: false,
  rule: '_',
  handlers: { text: safeText, image, segments } as Options['handlers'],
  unsafe: [
    { character: '\r' },
    { character: '\n', inConstruct: 'titleQuote' },
    { character: '\n', before: '[\\t ]', inConstruct: ['label', 'phrasing'] },
    { character: '\n', after: '[\\t ]', inConstruct: ['label', 'phrasing'] },
    { character: '\n', before: '[\\r\\n]', inConstruct: 'label' },
    { character: '\n', after: '[\\r\\n]', inConstruct: 'label' },
  ],
}

const asterisk = 42
const tilde = 126

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

/** Writes the Markdown of each block from its flow nodes. `labels` are the labels of the document's footnotes. */
export function writeFlow(blocks: Flow[], labels: Labels): string[] {
  for (const { nodes } of blocks) markLiteralSigns(nodes, labels)
  const children = blocks.flatMap(({ nodes, after }) => {
    return after === 'previous' ? nodes : [{ type: 'segmentBreak', bullet: after?.bullet }, ...nodes]
  })
  const texts = JSON.parse(processor.stringify({ type: 'segments', children } as unknown as Root)) as string[]
  let next = 0
  return blocks.map(({ nodes }) => {
    next += nodes.length
    const text = texts.slice(next - nodes.length, next).join('\n\n')
    return text.includes('&#x') && !nodes.some(holdsReference) ? withLetters(text) : text
  })
}

function holdsReference(node: object): boolean {
  const { type, children = [], ...own } = node as { type: string; children?: object[] }
  return (
    (type !== 'text' && Object.values(own).some((value) => String(value).includes('&#x'))) ||
    children.some(holdsReference)
  )
}

// remark writes a letter beside the sign of a mark as a character reference if CommonMark would otherwise not read the
// sign, and never looks beyond one sign of several. Here the letter is written as it is wherever the sign is read.
function withLetters(markdown: string): string {
  const text = markdown.replace(/(?<!\\)&#x([1-8BEF]|1[\dA-F]|7F|[89][\dA-F]);/g, (_, code: string) => letterOf(code))
  return text.replace(/(?<!\\)&#x([\dA-F]+);/g, (reference, code: string, index: number) => {
    const letter = letterOf(code)
    const end = index + reference.length
    const before = /([^*~])([*~]+)$/.exec(text.slice(Math.max(index - 8, 0), index))
    const after = /^([*~]+)([^*~])/.exec(text.slice(end, end + 8))
    const isRead = (run = '', inside = '') => {
      if (isBesideAnyLetter(letter.charCodeAt(0)) || isBesideAnyLetter(inside.charCodeAt(0))) return true
      return run === '***' && isWordCharacter(inside.charCodeAt(0))
    }
    if (/\s/.test(letter) || (before === null && after === null)) return reference
    return (!before || isRead(before[2], before[1])) && (!after || isRead(after[1], after[2])) ? letter : reference
  })
}

function letterOf(code: string): string {
  return String.fromCodePoint(Number.parseInt(code, 16))
}

type Extensions = { micromarkExtensions?: unknown[]; fromMarkdownExtensions?: unknown[] }

/**
 * A plugin of remark that reads math between single dollars and highlights between `==`. The writer uses neither form.
 */
function readSigns(this: { data: () => Extensions }): void {
  const data = this.data()
  const known = ((data.micromarkExtensions ?? []) as Extension[]).map(({ text = {}, ...rest }) => {
    const strike = [text[tilde] ?? []].flat().map(besideAnyLetter)
    return { ...rest, text: { ...text, [tilde]: strike } }
  })
  const emphasis: Extension = { text: { [asterisk]: besideAnyLetter(attention) } }
  data.micromarkExtensions = [...known, emphasis, dollarMath, highlight]
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
