import type { Node as DocumentNode } from '@tiptap/pm/model'
import type { Transaction } from '@tiptap/pm/state'
import { AttrStep } from '@tiptap/pm/transform'

/** A block of code, and its position in the document. */
export type CodeBlock = { node: DocumentNode; position: number }

/** The blocks of code in a part of a document. */
export function codeBlocks(doc: DocumentNode, { from, to }: { from: number; to: number }): CodeBlock[] {
  const found: CodeBlock[] = []
  doc.nodesBetween(from, to, (node, position) => {
    if (node.type.name === 'codeBlock') found.push({ node, position })
    return !node.isTextblock
  })
  return found
}

/** The blocks of code that a transaction has made, changed or touched. */
export function changedBlocks({ doc, mapping, steps }: Transaction): CodeBlock[] {
  const found = new Map<number, CodeBlock>()
  for (const [index, map] of mapping.maps.entries()) {
    const further = mapping.slice(index + 1)
    map.forEach((_from, _to, start, end) => {
      const range = {
        from: Math.max(0, further.map(start, -1) - 1),
        to: Math.min(doc.content.size, further.map(end, 1) + 1),
      }
      for (const block of codeBlocks(doc, range)) found.set(block.position, block)
    })
  }
  // A step that sets an attribute, such as the id of a new block, has no range.
  for (const [index, step] of steps.entries()) {
    if (!(step instanceof AttrStep)) continue
    const position = mapping.slice(index + 1).map(step.pos)
    const node = doc.nodeAt(position)
    if (node?.type.name === 'codeBlock') found.set(position, { node, position })
  }
  return [...found.values()]
}

/** The language that a block of code names, in lower case; null when it names none. */
export function languageOf({ attrs }: DocumentNode): string | null {
  return (typeof attrs['language'] === 'string' && attrs['language'].split(/\s/)[0]?.toLowerCase()) || null
}
