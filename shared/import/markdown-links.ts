import type { Definition, Image, Link, Nodes, Root } from 'mdast'
import { remark } from 'remark'
import remarkFrontmatter from 'remark-frontmatter'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'

/** An address in a Markdown text: what it is of, its value as it is meant, and where it stands, by UTF-16 offsets. */
export type Destination = { kind: 'link' | 'image' | 'definition'; url: string; start: number; end: number }

/** What an import needs to know of a Markdown text; `title` is null without front matter that has one. */
export type Outline = { destinations: Destination[]; title: string | null }

/** The addresses of links, images and definitions in their order, and the title that the front matter gives. */
export function outlineOf(markdown: string): Outline {
  found = []
  const tree = processor.parse(markdown) as Root
  const destinations = found.map(({ node, ...span }) => ({ kind: node.type, url: node.url, ...span }))
  found = []
  return { destinations, title: titleOf(tree) }
}

/** The text with some of its addresses replaced; everything else stays as it is, byte for byte. */
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

// The tree has no positions of addresses, but the tokens that it is made of do: with the angle brackets, if there are.
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

function titleOf(tree: Root): string | null {
  const [first] = tree.children
  const declared = first?.type === 'yaml' ? /^title:[ \t]*(\S.*)$/m.exec(first.value)?.[1]?.trim() : undefined
  const unquoted = declared?.replace(/^(["'])(.*)\1$/, '$2')
  return unquoted?.replace(/\s+/g, ' ').trim() || null
}
