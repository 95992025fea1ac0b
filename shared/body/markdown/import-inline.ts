import type { PhrasingContent } from 'mdast'
import { isAllowedHref } from '../addresses.ts'
import type { BodyNode, Mark } from '../document.ts'
import { maximumNodes, refuseNode } from '../normalise-state.ts'
import { isLineBreak } from './html-syntax.ts'
import { type ImportContext, warnAt } from './import-context.ts'

type InlineReader = (node: never, context: ImportContext, depth: number) => BodyNode[]
type Of<T extends PhrasingContent['type']> = Extract<PhrasingContent, { type: T }>

const markTags: { [tag: string]: string } = {
  u: 'underline',
  sub: 'subscript',
  sup: 'superscript',
  mark: 'highlight',
}
// Emphasis within emphasis adds no mark, so this many levels are no text of anybody's.
const maximumSpans = 500

/** The inline content that mdast phrasing stands for; not yet normalised. */
export function importInline(nodes: PhrasingContent[], context: ImportContext, depth = 0): BodyNode[] {
  if (depth > maximumSpans) throw refuseNode({ path: '/content', blockId: null }, 'emphasis nests too deeply')
  const result: BodyNode[] = []
  for (const node of nodes) {
    const read = inlineReaders[node.type] as InlineReader | undefined
    for (const inline of read?.(node as never, context, depth + 1) ?? []) result.push(inline)
  }
  return pairTags(result)
}

/**
 * Pairs of `<u>`, `<sub>`, `<sup>` and `<mark>` that stand beside each other in inline content, as marks on what they
 * enclose; a closing tag goes with the nearest opening one, unpaired and empty ones stay as they are.
 */
export function pairTags(nodes: BodyNode[]): BodyNode[] {
  if (!nodes.some((node) => node.type === 'htmlInline')) return nodes
  const result: BodyNode[] = []
  let open: { name: string; index: number }[] = []
  for (const node of nodes) {
    const tag = node.type === 'htmlInline' ? /^<(\/?)(u|sub|sup|mark)>$/i.exec(String(node.attrs?.html)) : null
    const name = tag?.[2]?.toLowerCase() ?? ''
    const opening = tag?.[1] === '/' ? open.findLast((o) => o.name === name) : undefined
    if (tag?.[1] === '') open.push({ name, index: result.length })
    if (opening === undefined || opening.index === result.length - 1) {
      result.push(node)
      continue
    }
    const enclosed = result.splice(opening.index).slice(1)
    result.push(...enclosed.map((inner) => withMark(inner, { type: markTags[name] as string })))
    open = open.filter((o) => o.index < opening.index)
  }
  return result
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
  image: (node) => [inlineImage(node)],
  imageReference: (node, context) => {
    const definition = resolve(node.identifier, context)
    return definition === undefined ? [] : [inlineImage({ ...definition, alt: node.alt })]
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
  if (content.length === 0) return bareLink(target.url, { line: node.position?.start.line, context })
  return marked(content, { type: 'link', attrs: { href: target.url, title: target.title || null } })
}

// A link is a mark on something; one without a text, such as a target for jumps, lives on as raw HTML.
function bareLink(href: string, { line, context }: { line: number | undefined; context: ImportContext }): BodyNode[] {
  if (!isAllowedHref(href)) {
    warnAt(context, { code: 'link_removed', message: 'a link without a text was left out.', line })
    return []
  }
  warnAt(context, { code: 'node_simplified', message: 'a link without a text is kept as raw HTML.', line })
  const escaped = encodeURI(href).replaceAll('%25', '%').replaceAll('&', '&amp;')
  return [`<a href="${escaped}">`, '</a>'].map((html) => ({ type: 'htmlInline', attrs: { html } }))
}

// Within a table a bar is escaped even where a backslash is otherwise only itself.
function withBars(value: string, context: ImportContext): string {
  return context.inCell ? value.replaceAll('\\|', '|') : value
}

// Line ends within code and math are spaces (CommonMark 6.1).
function oneLine(value: string): string {
  return value.replaceAll('\n', ' ')
}

function resolve(identifier: string, context: ImportContext) {
  context.used.add(identifier)
  if (context.used.size > maximumNodes) throw refuseNode({ path: '/content', blockId: null }, 'too many definitions')
  return context.definitions.get(identifier)
}

function inlineImage(node: { url: string; title?: string | null; alt?: string | null }): BodyNode {
  return { type: 'inlineImage', attrs: { src: node.url, alt: node.alt || null, title: node.title || null } }
}

function marked(nodes: BodyNode[], mark: Mark): BodyNode[] {
  return nodes.map((node) => withMark(node, mark))
}

// The innermost of two marks of a type is the one that counts, as for a link within a link.
function withMark(node: BodyNode, mark: Mark): BodyNode {
  if (node.marks?.some((inner) => inner.type === mark.type)) return node
  return { ...node, marks: [mark, ...(node.marks ?? [])] }
}
