import Type, { type Static } from 'typebox'
import type { BodyNode, DocNode } from '../../body/document.ts'
import { isTextblock } from '../../body/nodes.ts'
import { headingPathEntry, sectionsAbove } from '../../body/outline.ts'
import { plainText } from '../../body/text.ts'

/** Top-level headings as [position, level, title], in order. */
export const Headings = Type.Array(Type.Tuple([Type.Integer(), Type.Integer(), Type.String()]))
export type Headings = Static<typeof Headings>

/** What the index keeps of a document to name the section of a hit: the top-level headings. */
export type SearchOutline = { headings: Headings }

/**
 * A textblock: a node of the body that directly contains text. Matching looks at each textblock by itself. `position`
 * is the index of the top-level block around the textblock. `blockTypes` are the types by which a search can choose the
 * textblock: its own type, and `table` and `listItem` where the textblock is inside such a node.
 */
export type Textblock = { blockId: string; position: number; type: string; blockTypes: string[]; text: string }

/** The outline of a document for the index. Titles of headings are not cut. */
export function indexOutlineOf(document: DocNode): SearchOutline {
  return {
    headings: document.content
      .flatMap((block, position) =>
        block.type === 'heading' ? [[position, Number(block.attrs['level'] ?? 1), plainText(block)] as const] : [],
      )
      .map(([position, level, title]) => [position, level, title]),
  }
}

/** Every textblock with text, in document order, at any depth. */
export function textblocksOf(document: DocNode): Textblock[] {
  return document.content.flatMap((block, position) => textblocksIn(block, { position, around: [] }))
}

/**
 * Returns the titles of the headings above a top-level position, outermost first, each cut at 200 code points. At the
 * position of a heading, the path ends with the heading itself.
 */
export function headingPathAt(headings: Headings, position: number): string[] {
  let path: { level: number; title: string }[] = []
  for (const [at, level, title] of headings) {
    if (at > position) break
    path = [...sectionsAbove(path, level), { level, title }]
  }
  return path.map(({ title }) => headingPathEntry(title))
}

// The types of nodes by which a search can choose all textblocks inside. An item of a task list is a list item, too.
const chosenAround = new Map([
  ['table', 'table'],
  ['listItem', 'listItem'],
  ['taskItem', 'listItem'],
])

type Place = { position: number; around: readonly string[] }

function textblocksIn(node: BodyNode, { position, around }: Place): Textblock[] {
  if (!isTextblock(node.type)) {
    const chosen = chosenAround.get(node.type)
    const inside = chosen === undefined || around.includes(chosen) ? around : [...around, chosen].sort()
    return (node.content ?? []).flatMap((child) => textblocksIn(child, { position, around: inside }))
  }
  const text = plainText(node)
  if (text.trim() === '') return []
  const blockTypes = [node.type, ...around]
  return [{ blockId: String(node.attrs?.['id']), position, type: node.type, blockTypes, text }]
}
