import type { Nodes, Parents, RootContent } from 'mdast'
import { parseTree } from '../../shared/body/markdown/processor.ts'

type Tree = { type: string; value?: string; children?: Tree[]; [field: string]: unknown }
type Definitions = ReadonlyMap<string, { url: string; title?: string | null | undefined }>

const wrappers = new Set(['emphasis', 'strong', 'delete', 'link', 'highlight'])

/**
 * The syntax tree of a Markdown text as JSON, without positions, in a normal form in which spellings of the same
 * content are equal. Links by reference are links, `<br>` is a break, and line ends within code are spaces. Marks on
 * the same text have no order. Rows of a table are equally long. The marker of a callout is apart from its text. Blank
 * lines of a list do not count, and neither does white space at the edges of `<details>` and `<summary>`.
 */
export function syntaxTree(markdown: string): string {
  const root = parseTree(markdown.replace(/\r\n?/g, '\n'))
  return JSON.stringify(normalised(root, definitionsIn(root)), (_, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function definitionsIn(node: Nodes, found = new Map<string, { url: string; title?: string | null | undefined }>()) {
  if (node.type === 'definition' && !found.has(node.identifier)) found.set(node.identifier, node)
  for (const child of 'children' in node ? (node as Parents).children : []) definitionsIn(child as RootContent, found)
  return found
}

function normalised(node: Nodes, definitions: Definitions): Tree[] {
  if (node.type === 'definition') return []
  if (node.type === 'html' && /^<br\s*\/?>$/i.test(node.value)) return [{ type: 'break' }]
  const { position: _, data: __, spread: ___, ...fields } = node as unknown as Tree
  const tree: Tree = fields
  if (tree.children !== undefined)
    tree.children = merged((node as Parents).children.flatMap((c) => normalised(c, definitions)))
  if (node.type === 'html') tree.value = withoutEdges(node.value)
  if (node.type === 'inlineCode') tree.value = node.value.replaceAll('\n', ' ')
  if (node.type === 'table') fillRows(tree)
  if (node.type === 'blockquote') partMarker(tree)
  return [inOrder(resolved(tree, definitions))]
}

function resolved(tree: Tree, definitions: Definitions): Tree {
  const { type, children, alt } = tree
  if (!['link', 'image', 'linkReference', 'imageReference'].includes(type)) return tree
  const { url, title } = (definitions.get(String(tree['identifier'])) ?? tree) as { url: string; title: string | null }
  const target = { url, title: title ?? null }
  return type.startsWith('link')
    ? { type: 'link', ...target, children: children ?? [] }
    : { type: 'image', ...target, alt }
}

function merged(children: Tree[]): Tree[] {
  const result: Tree[] = []
  for (const child of children) {
    const last = result.at(-1)
    if (last?.type === 'text' && child.type === 'text') last.value = `${last.value}${child.value}`
    else result.push(child)
  }
  return result
}

// Of marks on the same text, the first in the alphabet is outermost.
function inOrder(tree: Tree): Tree {
  const [inner, ...others] = tree.children ?? []
  if (!wrappers.has(tree.type) || inner === undefined || others.length > 0 || !wrappers.has(inner.type)) return tree
  if (tree.type <= inner.type) return tree
  return { ...inner, children: [inOrder({ ...tree, children: inner.children ?? [] })] }
}

// Browsers show no white space at the edges of these elements.
function withoutEdges(html: string): string {
  return html.replace(/^\s*(<details[^>]*>)\s*(<summary>)\s*/, '$1$2').replace(/\s*(<\/summary>)$/, '$1')
}

function fillRows(table: Tree): void {
  const rows = table.children ?? []
  const width = Math.max(...rows.map((row) => row.children?.length ?? 0))
  for (const row of rows)
    while ((row.children?.length ?? 0) < width) row.children?.push({ type: 'tableCell', children: [] })
}

function partMarker(quote: Tree): void {
  const head = quote.children?.[0]
  const text = head?.type === 'paragraph' ? head.children?.[0] : undefined
  const marker = /^\[!\w+\](?:\n|$)/.exec(text?.value ?? '')
  if (marker === null || text === undefined || head === undefined) return
  text.value = (text.value ?? '').slice(marker[0].length)
  if (text.value === '') head.children?.shift()
  if (head.children?.length === 0) quote.children?.shift()
  quote['marker'] = marker[0].trim().toUpperCase()
}
