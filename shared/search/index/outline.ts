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
 * is the index of the top-level block around the textblock.
 */
export type Textblock = { blockId: string; position: number; type: string; text: string }

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
  return document.content.flatMap(textblocksIn)
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

function textblocksIn(node: BodyNode, position: number): Textblock[] {
  if (!isTextblock(node.type)) return (node.content ?? []).flatMap((child) => textblocksIn(child, position))
  const text = plainText(node)
  if (text.trim() === '') return []
  return [{ blockId: String(node.attrs?.['id']), position, type: node.type, text }]
}
