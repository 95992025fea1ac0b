import type { PhrasingContent } from 'mdast'
import { isAllowedHref } from '../addresses.ts'
import { maximumNodes } from '../body-limits.ts'
import type { BodyNode, Mark } from '../document.ts'
import { sameMark } from '../marks.ts'
import { isLineBreak, mathSeparator } from './html-syntax.ts'
import { type ImportContext, refuseText, spend, warnAt } from './import-context.ts'
import { marksAcrossCode, type Neighbour } from './marks-across-code.ts'

type InlineReader = (node: never, context: ImportContext, depth: number) => BodyNode[]
type Of<T extends PhrasingContent['type']> = Extract<PhrasingContent, { type: T }>

const markTags: { [tag: string]: string } = {
  u: 'underline',
  sub: 'subscript',
  sup: 'superscript',
  mark: 'highlight',
}
const markTypes = Object.values(markTags)
// The most levels of emphasis and links around a text. Emphasis within emphasis adds no mark, so no real text has so
// many levels.
const maximumSpans = 500

/** Reads mdast phrasing nodes (mdast's word for inline nodes) as inline content, which is not normalised yet. */
export function importInline(nodes: PhrasingContent[], context: ImportContext, depth = 0): BodyNode[] {
  if (depth > maximumSpans) throw refuseText(context, 'emphasis nests too deeply')
  const result: BodyNode[] = []
  for (const node of nodes) {
    const read = inlineReaders[node.type] as InlineReader | undefined
    for (const inline of read?.(node as never, context, depth + 1) ?? []) result.push(inline)
  }
  const paired = pairTags(withoutSeparators(result))
  return depth === 0 ? unmarkCode(paired) : paired
}

function withoutSeparators(nodes: BodyNode[]): BodyNode[] {
  const isMath = (node: BodyNode | undefined) => node?.type === 'inlineMath'
  return nodes.filter(({ attrs }, index) => {
    return attrs?.html !== mathSeparator || !isMath(nodes[index - 1]) || !isMath(nodes[index + 1])
  })
}

/**
 * Removes from inline code the marks that Markdown writes around the code, such as bold between two bold texts
 * (`marksAcrossCode`). A body keeps no such mark on code. The export derives the marks again from the texts beside the
 * code. Any other mark on code is left out by the normaliser, with a warning.
 */
function unmarkCode(nodes: BodyNode[]): BodyNode[] {
  const result = [...nodes]
  for (let from = 0; from < nodes.length; from += 1) {
    let end = from
    while (isCode(nodes[end])) end += 1
    if (end === from) continue
    const across = marksAcrossCode(neighbour(nodes[from - 1]), neighbour(nodes[end]))
    for (let at = from; at < end; at += 1) result[at] = withoutMarks(nodes[at] as BodyNode, across)
    from = end
  }
  return result
}

function isCode(node: BodyNode | undefined): boolean {
  return node?.marks?.some(({ type }) => type === 'code') ?? false
}

function neighbour(node: BodyNode | undefined): Neighbour | undefined {
  return node && { marks: node.marks ?? [], text: node.text ?? null }
}

function withoutMarks(node: BodyNode, marks: readonly Mark[]): BodyNode {
  return { ...node, marks: (node.marks ?? []).filter((mark) => !marks.some((other) => sameMark(other, mark))) }
}

/**
 * Turns pairs of `<u>`, `<sub>`, `<sup>` and `<mark>` in inline content into marks on the content between them. A
 * closing tag belongs to the nearest opening tag. Tags without a partner and empty pairs stay as they are.
 */
export function pairTags(nodes: BodyNode[]): BodyNode[] {
  if (!nodes.some((node) => node.type === 'htmlInline')) return nodes
  const halves = tagPairs(nodes)
  if (halves.size === 0) return nodes
  const depths = new Map(markTypes.map((type) => [type, 0]))
  return nodes.flatMap((node, index) => {
    const half = halves.get(index)
    if (half === undefined) return [enclosedBy(node, depths)]
    depths.set(half.type, (depths.get(half.type) ?? 0) + half.step)
    return []
  })
}

function enclosedBy(node: BodyNode, depths: ReadonlyMap<string, number>): BodyNode {
  return markTypes.reduce((inner, type) => (depths.get(type) === 0 ? inner : withMark(inner, { type })), node)
}

type Half = { type: string; step: 1 | -1 }

// Returns the tags that have a partner, by their index among the nodes. A tag that is opened inside a pair and not
// closed there has no partner.
function tagPairs(nodes: BodyNode[]): Map<number, Half> {
  const halves = new Map<number, Half>()
  const open = new Map(markTypes.map((type): [string, number[]] => [type, []]))
  for (const [index, node] of nodes.entries()) {
    const tag = node.type === 'htmlInline' ? /^<(\/?)(u|sub|sup|mark)>$/i.exec(String(node.attrs?.html)) : null
    if (tag === null) continue
    const type = markTags[(tag[2] as string).toLowerCase()] as string
    if (tag[1] === '') open.get(type)?.push(index)
    const start = tag[1] === '' ? undefined : open.get(type)?.at(-1)
    if (start === undefined || start === index - 1) continue
    halves.set(start, { type, step: 1 }).set(index, { type, step: -1 })
    for (const starts of open.values()) while ((starts.at(-1) ?? -1) >= start) starts.pop()
  }
  return halves
}

const inlineReaders: {
  [T in PhrasingContent['type']]?: (node: Of<T>, context: ImportContext, depth: number) => BodyNode[]
} = {
  text: ({ value }) => [{ type: 'text', text: value }],
  break: () => [{ type: 'hardBreak' }],
  inlineCode: ({ value }) => [{ type: 'text', text: oneLine(value), marks: [{ type: 'code' }] }],
  emphasis: ({ children }, context, depth) => marked(importInline(children, context, depth), { type: 'italic' }),
  strong: ({ children }, context, depth) => marked(importInline(children, context, depth), { type: 'bold' }),
  delete: ({ children }, context, depth) => marked(importInline(children, context, depth), { type: 'strike' }),
  highlight: ({ children }, context, depth) => marked(importInline(children, context, depth), { type: 'highlight' }),
  image: (node, context) => [inlineImage(node, context)],
  imageReference: (node, context) => {
    const definition = resolve(node.identifier, context)
    return definition === undefined ? [] : [inlineImage({ ...definition, alt: node.alt ?? null }, context)]
  },
  link: (node, context, depth) => link(node, node, { context, depth }),
  linkReference: (node, context, depth) => {
    const definition = resolve(node.identifier, context)
    return definition === undefined ? [] : link(definition, node, { context, depth })
  },
  footnoteReference: ({ label, identifier }) => [{ type: 'footnoteReference', attrs: { label: label ?? identifier } }],
  html: ({ value }, context) => [
    isLineBreak(value) ? { type: 'hardBreak' } : { type: 'htmlInline', attrs: { html: withBars(value, context) } },
  ],
  inlineMath: ({ value }, context) => [{ type: 'inlineMath', attrs: { latex: withBars(oneLine(value), context) } }],
}

function link(
  target: { url: string; title?: string | null },
  node: Of<'link'> | Of<'linkReference'>,
  { context, depth }: { context: ImportContext; depth: number },
): BodyNode[] {
  const content = importInline(node.children, context, depth)
  spend(context, target, Math.max(content.length, 1))
  if (content.length === 0) return bareLink(target.url, { line: node.position?.start.line, context })
  return marked(content, { type: 'link', attrs: { href: target.url, title: target.title || null } })
}

// A link is a mark on content. A link without a text, such as a target for jumps, becomes raw HTML.
function bareLink(href: string, { line, context }: { line: number | undefined; context: ImportContext }): BodyNode[] {
  if (!isAllowedHref(href)) {
    warnAt(context, { code: 'link_removed', message: 'a link without a text was left out.', line })
    return []
  }
  warnAt(context, { code: 'node_simplified', message: 'a link without a text is kept as raw HTML.', line })
  const escaped = encodeURI(href).replaceAll('%25', '%').replaceAll('&', '&amp;')
  return [`<a href="${escaped}">`, '</a>'].map((html) => ({ type: 'htmlInline', attrs: { html } }))
}

// Removes the backslash before a bar within a table. There a bar is escaped even in raw HTML and math, where a
// backslash is otherwise an ordinary character.
function withBars(value: string, context: ImportContext): string {
  return context.inCell ? value.replaceAll('\\|', '|') : value
}

// Line ends within code and math are spaces (CommonMark 6.1).
function oneLine(value: string): string {
  return value.replaceAll('\n', ' ')
}

function resolve(identifier: string, context: ImportContext) {
  context.used.add(identifier)
  if (context.used.size > maximumNodes) throw refuseText(context, 'too many definitions')
  return context.definitions.get(identifier)
}

type Picture = { url: string; title?: string | null | undefined; alt?: string | null | undefined }

function inlineImage(node: Picture, context: ImportContext): BodyNode {
  spend(context, node, 1)
  return { type: 'inlineImage', attrs: { src: node.url, alt: node.alt || null, title: node.title || null } }
}

function marked(nodes: BodyNode[], mark: Mark): BodyNode[] {
  return nodes.map((node) => withMark(node, mark))
}

// Of two marks of one type the innermost wins, as for a link within a link.
function withMark(node: BodyNode, mark: Mark): BodyNode {
  if (node.marks?.some((inner) => inner.type === mark.type)) return node
  return { ...node, marks: [mark, ...(node.marks ?? [])] }
}
