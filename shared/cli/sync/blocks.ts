/**
 * A block of a Markdown text: what stands below an anchor, up to the next anchor. `id` is null for text without an
 * anchor of its own; such text may hold several blocks of the service. `slug` is the word behind the id in
 * the anchor; absent without one.
 */
export type MarkdownBlock = { id: string | null; text: string; slug?: string }

/** A Markdown text: the YAML between the `---` lines at its beginning, or null without such lines, and its blocks. */
export type MarkdownParts = { frontMatter: string | null; blocks: MarkdownBlock[] }

const anchorLine = /^ {0,3}<!--\s*block=(block_[0-9A-HJKMNP-TV-Z]{26})(?:\s+(\S+))?\s*-->[ \t]*$/
const fenceLine = /^ {0,3}(`{3,}(?!.*`)|~{3,})/
// The markers of list items and quotes, behind which fenced code may begin on the same line.
const containerMarkers = /^ {0,3}(?:(?:[-*+]|\d{1,9}[.)]) {1,4}|> ?)+/
const frontMatterLines = /^---[ \t]*\n((?:[^\n]*\n)*?)---[ \t]*(?:\n|$)/

/**
 * Splits a Markdown text at its anchors, see api/guide/markdown.md#annotations. An anchor inside of fenced code is
 * text, and so is an anchor whose id has occurred before. Line ends become line feeds. The time is linear in the text.
 */
export function splitMarkdown(markdown: string): MarkdownParts {
  const { frontMatter, rest } = splitFrontMatter(markdown)
  const blocks: MarkdownBlock[] = []
  const ids = new Set<string>()
  let block: { id: string | null; slug: string; lines: string[] } = { id: null, slug: '', lines: [] }
  const finish = () => {
    const { id, slug } = block
    const text = trimmedLines(block.lines)
    if (id !== null || text !== '') blocks.push({ id, text, ...(slug !== '' && { slug }) })
  }
  let fence: Fence | null = null
  for (const line of rest.split('\n')) {
    if (fence !== null && isOutside(line, fence)) fence = null
    const [, id, slug = ''] = (fence === null ? anchorLine.exec(line) : null) ?? []
    if (id !== undefined && !ids.has(id)) {
      finish()
      ids.add(id)
      block = { id, slug, lines: [] }
      continue
    }
    // A second anchor of the same block would be refused by the service. The text below it becomes a new block.
    if (id === undefined) block.lines.push(line)
    else if (block.lines.at(-1)?.trim() !== '') block.lines.push('')
    fence = fenceAfter(line, fence)
  }
  finish()
  return { frontMatter, blocks }
}

/** Splits the YAML at the beginning of a Markdown text from the text behind it. Line ends become line feeds. */
export function splitFrontMatter(markdown: string): { frontMatter: string | null; rest: string } {
  const text = markdown.replace(/^\ufeff/, '').replace(/\r\n?/g, '\n')
  const found = text.startsWith('---') ? frontMatterLines.exec(text) : null
  return found === null
    ? { frontMatter: null, rest: text }
    : { frontMatter: found[1] ?? '', rest: text.slice(found[0].length) }
}

/** The ids of the headings of a body by their slugs. The body is Markdown as the service writes it with anchors. */
export function headingsIn(body: string): Map<string, string> {
  const { blocks } = splitMarkdown(body)
  return new Map(blocks.flatMap(({ id, slug }) => (id !== null && slug !== undefined ? [[slug, id] as const] : [])))
}

/** Joins the parts of a Markdown text. The text ends with a line feed unless it is empty. */
export function joinMarkdown({ frontMatter, blocks }: MarkdownParts): string {
  const opening = frontMatter === null ? [] : [`---\n${frontMatter}---`]
  const parts = blocks.map(({ id, text }) => {
    return [id === null ? '' : `<!-- block=${id} -->`, text].filter((part) => part !== '').join('\n')
  })
  const joined = [...opening, ...parts.filter((part) => part !== '')].join('\n\n')
  return joined === '' || joined.endsWith('\n') ? joined : `${joined}\n`
}

/** True if two texts are the same apart from anchors and from empty lines around blocks. */
export function readAlike(one: string, other: string): boolean {
  const plain = (markdown: string) => {
    const { frontMatter, blocks } = splitMarkdown(markdown)
    return joinMarkdown({ frontMatter, blocks: blocks.map(({ text }) => ({ id: null, text })) })
  }
  return plain(one) === plain(other)
}

/** The text, whose repeated anchors are left out if an anchor is repeated: the service would refuse such a text. */
export function withoutRepeatedAnchors(markdown: string): string {
  return repeatsAnchor(markdown) ? joinMarkdown(splitMarkdown(markdown)) : markdown
}

/** True if the anchor of a block stands in two lines of a text, or more. Anchors inside of fenced code count, too. */
export function repeatsAnchor(markdown: string): boolean {
  const ids = markdown.split(/\r\n?|\n/).flatMap((line) => anchorLine.exec(line)?.[1] ?? [])
  return new Set(ids).size < ids.length
}

// An open fence: its marks, and the column at which the list item or quote has its text.
type Fence = { marks: string; column: number }

// The fence that is open behind a line: the line opens a fence, closes the open fence, or changes nothing.
function fenceAfter(line: string, open: Fence | null): Fence | null {
  const column = open?.column ?? containerMarkers.exec(line)?.[0].length ?? 0
  const inside = line.slice(column)
  const [, marks = null] = fenceLine.exec(inside) ?? []
  if (open === null) return marks === null ? null : { marks, column }
  if (marks === null || marks[0] !== open.marks[0] || marks.length < open.marks.length) return open
  return inside.trim() === marks ? null : open
}

// True if a line ends the list item or quote in which the fence was opened, and the fence with it.
function isOutside(line: string, { column }: Fence): boolean {
  const inside = /^[ \t>]*/.exec(line)?.[0].length ?? 0
  return inside < column && inside < line.length
}

/** Lines as a text without the empty lines around it. The first line keeps its indentation. */
export function trimmedLines(lines: readonly string[]): string {
  const first = lines.findIndex((line) => line.trim() !== '')
  const last = lines.findLastIndex((line) => line.trim() !== '')
  return first === -1 ? '' : lines.slice(first, last + 1).join('\n')
}
