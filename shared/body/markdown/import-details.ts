import type { RootContent } from 'mdast'
import type { BodyNode } from '../document.ts'
import { isLineBreak } from './html-syntax.ts'
import type { ImportContext } from './import-context.ts'
import { importInline, pairTags } from './import-inline.ts'
import { parseTree } from './processor.ts'

const plainOpening = /^<details( open)?>\s*<summary>([\s\S]*)<\/summary>$/i
const richOpening = /^<details( open)?>\s*<summary>$/i

/**
 * Reads the `details` that begin at a sibling: raw HTML `<details>` with a `<summary>`, blocks, raw HTML `</details>`.
 * `end` is the index of the last sibling that belongs to the `details`. Returns null where no `details` begin; the HTML
 * then stays as it is. `importFlow` reads the blocks inside. `importFlow` is an argument, because it calls this
 * function in turn for `details` within `details`.
 */
export function readDetails(
  nodes: RootContent[],
  start: number,
  { ends, context, importFlow }: Recursion,
): { node: BodyNode; end: number } | null {
  const html = htmlOf(nodes[start])
  if (html === null || !/^<details/i.test(html)) return null
  const end = ends.get(start)
  if (end === undefined) return null
  const plain = plainOpeningOf(html)
  if (plain !== null) {
    const inside = nodes.slice(start + 1, end)
    return { end, node: details(plain[1], readSummary(plain[2] ?? ''), importFlow(inside, context)) }
  }
  const rich = richOpening.exec(html)
  const summary = richSummary(nodes[start + 1], context)
  if (rich === null || summary === null || htmlOf(nodes[start + 2]) !== '</summary>') return null
  const inside = nodes.slice(start + 3, end)
  return { end, node: details(rich[1], summary, importFlow(inside, context)) }
}

type Recursion = {
  /** The index of the closing tag for each index of an opening tag, from `detailsEnds`. */
  ends: ReadonlyMap<number, number>
  context: ImportContext
  importFlow: (nodes: RootContent[], context: ImportContext) => BodyNode[]
}

function richSummary(node: RootContent | undefined, context: ImportContext): BodyNode[] | null {
  if (node?.type === 'paragraph') return importInline(node.children, context)
  const html = htmlOf(node)
  return html !== null && isLineBreak(html) ? [{ type: 'hardBreak' }] : null
}

function details(open: string | undefined, summary: BodyNode[], content: BodyNode[]): BodyNode {
  return {
    type: 'details',
    attrs: { open: open !== undefined },
    content: [
      { type: 'detailsSummary', content: summary },
      { type: 'detailsContent', content },
    ],
  }
}

/** Maps the index of each `<details>` to the index of its `</details>` among the siblings. */
export function detailsEnds(nodes: RootContent[]): Map<number, number> {
  const ends = new Map<number, number>()
  const open: number[] = []
  for (const [index, node] of nodes.entries()) {
    const html = htmlOf(node)
    if (html === null) continue
    if (opensDetails(html)) open.push(index)
    const start = endsDetails(html) ? open.pop() : undefined
    if (start !== undefined) ends.set(start, index)
  }
  return ends
}

/** True if each opening tag of details among the siblings has its closing tag among them, and the other way round. */
export function closesDetails(nodes: RootContent[]): boolean {
  const tags = nodes.filter((node) => {
    const html = htmlOf(node)
    return html !== null && (opensDetails(html) || endsDetails(html))
  })
  return tags.length === 2 * detailsEnds(nodes).size
}

function opensDetails(html: string): boolean {
  return richOpening.test(html) || plainOpeningOf(html) !== null
}

function endsDetails(html: string): boolean {
  return /^<\/details>$/i.test(html)
}

// A summary with another summary inside is not read as details.
function plainOpeningOf(html: string): RegExpExecArray | null {
  const match = plainOpening.exec(html)
  return match === null || /<\/?summary\b/i.test(match[2] ?? '') ? null : match
}

// Markdown is not read within HTML: tags stay tags, and everything between tags is text with character references.
function readSummary(html: string): BodyNode[] {
  const nodes = html
    .replace(/^[ \t\n]+/, '')
    .trimEnd()
    .split(/(<[^<>]*>)/)
    .flatMap((part, index): BodyNode[] => {
      if (index % 2 === 1)
        return [isLineBreak(part) ? { type: 'hardBreak' } : { type: 'htmlInline', attrs: { html: part } }]
      const decoded = onOneLine(part).replace(/&(?:#x?[0-9a-f]{1,7}|[a-z0-9]{1,31});/gi, decode)
      return decoded === '' ? [] : [{ type: 'text', text: decoded }]
    })
  return pairTags(nodes)
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, (space) => (space.includes('\n') ? ' ' : space))
}

function decode(reference: string): string {
  const [block] = parseTree(reference).children
  const inline = block?.type === 'paragraph' ? block.children[0] : undefined
  return inline?.type === 'text' ? inline.value : reference
}

function htmlOf(node: RootContent | undefined): string | null {
  return node?.type === 'html' ? node.value.trim() : null
}
