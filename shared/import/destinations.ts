import type { Definition, Image, Link, Nodes, Root } from 'mdast'
import { remark } from 'remark'
import remarkFrontmatter from 'remark-frontmatter'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'

/** An address in a Markdown text: its kind, its decoded value, and its UTF-16 offsets. */
export type Destination = { kind: 'link' | 'image' | 'definition'; url: string; start: number; end: number }

/** The syntax tree of a Markdown text, and the addresses of its links, images and definitions in their order. */
export function parseMarkdown(markdown: string): { tree: Root; destinations: Destination[] } {
  found = []
  const tree = processor.parse(markdown) as Root
  const destinations = found.map(({ node, ...span }) => ({ kind: node.type, url: node.url, ...span }))
  found = []
  return { tree, destinations }
}

/**
 * The text with some of its addresses replaced. `replacement` returns undefined for an address that stays.
 */
export function replaceDestinations(
  markdown: string,
  destinations: readonly Destination[],
  replacement: (destination: Destination) => string | undefined,
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
  const data = this.data()
  data.fromMarkdownExtensions = [
    ...(data.fromMarkdownExtensions ?? []),
    { enter: { resourceDestination: note, definitionDestination: note } },
  ]
}

const processor = remark()
  .use(remarkFrontmatter)
  .use(remarkGfm)
  .use(remarkMath, { singleDollarTextMath: false })
  .use(captureDestinations)
  .freeze()
