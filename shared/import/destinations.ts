import type { Definition, Image, Link, Nodes, Root } from 'mdast'
import { remark } from 'remark'
import remarkFrontmatter from 'remark-frontmatter'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'

/**
 * An address in a Markdown text: its kind, its decoded value, and its UTF-16 offsets. The offsets of an address in raw
 * HTML include its quotes.
 */
export type Destination = {
  kind: 'link' | 'image' | 'definition'
  url: string
  start: number
  end: number
  isHtml?: boolean
}

/** The syntax tree of a Markdown text, and the addresses of its links, images and definitions in their order. */
export function parseMarkdown(markdown: string): { tree: Root; destinations: Destination[] } {
  found = []
  const tree = processor.parse(markdown) as Root
  const destinations = found.map(({ node, ...span }) => ({ kind: node.type, url: node.url, ...span }))
  found = []
  return { tree, destinations }
}

/** The addresses in the attributes `src` and `href` of the raw HTML in a Markdown text. */
export function htmlDestinations(tree: Root, markdown: string): Destination[] {
  const nodes: Nodes[] = [tree]
  const found: Destination[] = []
  for (const node of nodes) {
    if ('children' in node) for (const child of node.children) nodes.push(child)
    const [from = 0, to] = [node.position?.start.offset, node.position?.end.offset]
    if (node.type !== 'html' || node.value.startsWith('<!--')) continue
    for (const { index, 0: written, 1: name, 2: value = '' } of markdown.slice(from, to).matchAll(htmlAddress)) {
      const end = from + index + written.length
      const url = value.replace(/^["']|["']$/g, '').replaceAll('&amp;', '&')
      found.push({
        kind: name?.toLowerCase() === 'src' ? 'image' : 'link',
        url,
        start: end - value.length,
        end,
        isHtml: true,
      })
    }
  }
  return found
}

const htmlAddress = /\s(src|href)\s{0,20}=\s{0,20}("[^"]{0,8192}"|'[^']{0,8192}'|[^\s"'<>=`]{1,8192})/gi

/**
 * The text with some of its addresses replaced. `replacement` returns undefined for an address that stays.
 */
export function replaceDestinations<Place extends Pick<Destination, 'start' | 'end'>>(
  markdown: string,
  destinations: readonly Place[],
  replacement: (destination: Place) => string | undefined,
): string {
  let result = ''
  let done = 0
  for (const destination of [...destinations].sort((a, b) => a.start - b.start)) {
    const replaced = replacement(destination)
    if (replaced === undefined) continue
    result += markdown.slice(done, destination.start) + replaced
    done = destination.end
  }
  return result + markdown.slice(done)
}

type Addressed = Link | Image | Definition

let found: { node: Addressed; start: number; end: number }[] = []

type Token = { start: { offset: number }; end: { offset: number } }

// Notes where each address stands in the text. The syntax tree has no positions of addresses, but the tokens of the
// parser have. A position includes angle brackets around the address.
function captureDestinations(this: { data: () => { fromMarkdownExtensions?: unknown[] } }): void {
  function note(this: { stack: Nodes[] }, token: Token): void {
    found.push({ node: this.stack.at(-1) as Addressed, start: token.start.offset, end: token.end.offset })
  }
  // Outline writes the size of an image into its title. Such a title goes with the address.
  function noteTitle(this: { stack: Nodes[]; sliceSerialize: (token: Token) => string }, token: Token): void {
    const last = found.at(-1)
    if (last?.node.type === 'image' && /^["'(]\s?=\d*x\d*["')]$/.test(this.sliceSerialize(token)))
      last.end = token.end.offset
  }
  const data = this.data()
  data.fromMarkdownExtensions = [
    ...(data.fromMarkdownExtensions ?? []),
    { enter: { resourceDestination: note, definitionDestination: note, resourceTitle: noteTitle } },
  ]
}

const processor = remark()
  .use(remarkFrontmatter)
  .use(remarkGfm)
  .use(remarkMath, { singleDollarTextMath: false })
  .use(captureDestinations)
  .freeze()
