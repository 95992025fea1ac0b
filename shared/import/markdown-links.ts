import type { Nodes, Root } from 'mdast'
import { remark } from 'remark'
import remarkFrontmatter from 'remark-frontmatter'
import remarkGfm from 'remark-gfm'
import remarkMath from 'remark-math'

/** An address in a Markdown text: what it is of, its value as it is meant, and where it stands, by UTF-16 offsets. */
export type Destination = { kind: 'link' | 'image' | 'definition'; url: string; start: number; end: number }

/** What an import needs to know of a Markdown text. */
export type Outline = { destinations: Destination[]; title: string | null }

/** The addresses of links, images and definitions, and the title: that of the frontmatter or the first heading. */
export function outlineOf(markdown: string): Outline {
  spans = []
  const tree = processor.parse(markdown) as Root
  const found = spans
  const nodes = addressed(tree)
  const destinations = found.flatMap(([start, end]) => {
    // The innermost, since an image can stand in a link.
    const [node] = nodes
      .filter((candidate) => candidate.start <= start && end <= candidate.end)
      .sort((a, b) => a.end - a.start - (b.end - b.start))
    return node === undefined ? [] : [{ kind: node.kind, url: node.url, start, end }]
  })
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

let spans: [number, number][] = []

type Token = { start: { offset: number }; end: { offset: number } }

// The tree has no positions of addresses, but the tokens that it is made of do: with the angle brackets, if there are.
function captureDestinations(this: { data: () => { fromMarkdownExtensions?: unknown[] } }): void {
  const note = (token: Token) => {
    spans.push([token.start.offset, token.end.offset])
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

type Addressed = Destination

function addressed(tree: Nodes): Addressed[] {
  const own =
    tree.type === 'link' || tree.type === 'image' || tree.type === 'definition'
      ? [{ kind: tree.type, url: tree.url, ...rangeOf(tree) }]
      : []
  return 'children' in tree ? [...own, ...tree.children.flatMap(addressed)] : own
}

function rangeOf(node: Nodes): { start: number; end: number } {
  return { start: node.position?.start.offset ?? 0, end: node.position?.end.offset ?? 0 }
}

function titleOf(tree: Root): string | null {
  const [first] = tree.children
  const declared = first?.type === 'yaml' ? /^title:[ \t]*(.+?)[ \t]*$/m.exec(first.value)?.[1] : undefined
  const unquoted = declared?.replace(/^(["'])(.*)\1$/, '$2')
  const heading = tree.children.find((node) => node.type === 'heading' && node.depth === 1)
  for (const title of [unquoted, heading && textOf(heading)]) {
    const trimmed = title?.replace(/\s+/g, ' ').trim()
    if (trimmed) return trimmed
  }
  return null
}

function textOf(node: Nodes): string {
  if ('children' in node) return node.children.map(textOf).join('')
  return node.type === 'text' || node.type === 'inlineCode' ? node.value : ''
}
