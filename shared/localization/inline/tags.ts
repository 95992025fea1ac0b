import type { BodyNode, Mark } from '../../body/document.ts'
import { sameMark, sameMarks } from '../../body/marks.ts'
import { plainText } from '../../body/text.ts'

/**
 * A meaning that a numbered tag has: marks on the enclosed content, or a node. For a node, the enclosed text only tells
 * the model what the node is.
 */
export type Tag = { marks: Mark[] } | { node: BodyNode }

/** An inline content in which numbered tags, `<x1>…</x1>`, enclose everything that Markdown cannot express. */
export type Tagged = { content: BodyNode[]; tags: Tag[]; name: string }

/**
 * Encloses colours and mentions in tags, because Markdown cannot express them. With `all`, encloses every inline node
 * that is not text, for content whose raw HTML or math would not survive as it is.
 */
export function withTags(content: readonly BodyNode[], options: { all: boolean }): Tagged {
  const tagged: Tagged = { content: [], tags: [], name: freeName(content) }
  let run: BodyNode[] = []
  const close = () => {
    if (run.length > 0) tagged.content.push(...wrapped(run, tagged))
    run = []
  }
  for (const node of content) {
    if (run.length > 0 && !sameMarks(colours(run[0]), colours(node))) close()
    if (isTaggedNode(node, options)) {
      close()
      tagged.content.push(...enclosed(hint(node), { tag: { node }, tagged, marks: marksOf(node) }))
    } else run.push(node)
  }
  close()
  return tagged
}

/** Restores the meaning of the tags. Returns null unless each tag occurs exactly once, as a pair. */
export function withoutTags(content: readonly BodyNode[], { tags, name }: Omit<Tagged, 'content'>): BodyNode[] | null {
  const pattern = new RegExp(`^<(/?)${name}([1-9][0-9]{0,4})>$`, 'i')
  const found = content.map((node) => tagOf(node, pattern))
  const ends = new Map<number, number>()
  for (const [at, tag] of found.entries()) if (tag?.isEnd && !ends.has(tag.number)) ends.set(tag.number, at)
  const used = new Set<number>()
  const restored = restore({ from: 0, to: content.length }, { content, tags, found, ends, used, depth: 0 })
  return restored !== null && used.size === tags.length ? restored : null
}

type Found = { number: number; isEnd: boolean } | null
type Restoring = {
  content: readonly BodyNode[]
  tags: readonly Tag[]
  /** The tag of each node of the content, or null for a node that is not a tag. */
  found: readonly Found[]
  /** The index of the first end tag of each number. */
  ends: ReadonlyMap<number, number>
  used: Set<number>
  depth: number
}

// The most levels of tags within tags that are read in the answer of a model. Colours do not nest in the text that was
// sent, but an answer may put a colour inside another colour.
const maximumNesting = 8

function restore({ from, to }: { from: number; to: number }, restoring: Restoring): BodyNode[] | null {
  const { content, tags, found, ends, used, depth } = restoring
  if (depth > maximumNesting) return null
  const result: BodyNode[] = []
  for (let index = from; index < to; index += 1) {
    const tag = found[index] ?? null
    if (tag === null) {
      result.push(content[index] as BodyNode)
      continue
    }
    const meaning = tags[tag.number - 1]
    const end = ends.get(tag.number) ?? -1
    if (tag.isEnd || meaning === undefined || end < index || end >= to || used.has(tag.number)) return null
    used.add(tag.number)
    const range = { from: index + 1, to: end }
    const inner = 'node' in meaning ? [meaning.node] : restore(range, { ...restoring, depth: depth + 1 })
    if (inner === null) return null
    for (const child of inner) result.push('node' in meaning ? child : withMarks(child, meaning.marks))
    index = end
  }
  return result
}

function tagOf(node: BodyNode, pattern: RegExp): Found {
  const match = node.type === 'htmlInline' ? pattern.exec(String(node.attrs?.html)) : null
  return match === null ? null : { number: Number(match[2]), isEnd: match[1] === '/' }
}

function withMarks(node: BodyNode, marks: readonly Mark[]): BodyNode {
  return { ...node, marks: [...(node.marks ?? []).filter(({ type }) => !marks.some((m) => m.type === type)), ...marks] }
}

function wrapped(run: BodyNode[], tagged: Tagged): BodyNode[] {
  const marks = colours(run[0])
  if (marks === undefined) return run
  const inner = run.map((node) => withoutMarks(node, marks))
  const shared = marksOf(inner[0]).filter((mark) => inner.every((node) => node.marks?.some((m) => sameMark(m, mark))))
  return enclosed(inner, { tag: { marks }, tagged, marks: shared })
}

function enclosed(inner: BodyNode[], input: { tag: Tag; tagged: Tagged; marks: Mark[] }): BodyNode[] {
  const { tagged, marks } = input
  tagged.tags.push(input.tag)
  const tag = (slash: string): BodyNode => ({
    type: 'htmlInline',
    attrs: { html: `<${slash}${tagged.name}${tagged.tags.length}>` },
    ...(marks.length > 0 && { marks }),
  })
  const open = tag('')
  return [open, ...inner, tag('/')]
}

function isTaggedNode(node: BodyNode, { all }: { all: boolean }): boolean {
  return node.type === 'mention' || (all && node.type !== 'text' && node.type !== 'hardBreak')
}

// The text within the tag of a node. It tells the model what the node is, so the model can put the node where the other
// language needs it.
function hint(node: BodyNode): BodyNode[] {
  const marks = marksOf(node)
  const text = plainText(node).replace(/\s+/g, ' ').trim()
  return [{ type: 'text', text: text === '' ? '…' : text, ...(marks.length > 0 && { marks }) }]
}

function colours(node: BodyNode | undefined): Mark[] | undefined {
  const marks = (node?.marks ?? []).filter(
    ({ type, attrs }) => type === 'textStyle' || (type === 'highlight' && attrs !== undefined),
  )
  return marks.length === 0 ? undefined : marks
}

// Leaves out the mark `code`, because the raw HTML of a tag cannot be code.
function marksOf(node: BodyNode | undefined): Mark[] {
  return (node?.marks ?? []).filter(({ type }) => type !== 'code' && type !== 'textStyle')
}

function withoutMarks(node: BodyNode, dropped: readonly Mark[]): BodyNode {
  const { marks = [], ...rest } = node
  const kept = marks.filter((mark) => !dropped.some((other) => sameMark(other, mark)))
  return kept.length === 0 ? rest : { ...rest, marks: kept }
}

// Returns a tag name that the text does not use, so that no raw HTML of the text is taken for a tag.
function freeName(content: readonly BodyNode[]): string {
  const text = JSON.stringify(content).toLowerCase()
  const longest = Array.from(text.matchAll(/<\/?(x+)/g)).reduce((most, [, run = '']) => Math.max(most, run.length), 0)
  return 'x'.repeat(longest + 1)
}
