import type { Node as DocumentNode } from '@tiptap/pm/model'

/** Some blocks of a document that stand beside each other, by their indexes. The block `to` is not among them. */
export type Range = { from: number; to: number }

// Fewer blocks between two ranges belong to both, because a gap costs more than it saves.
const leastGap = 20

/** The blocks of all ranges, in order and within a document of so many blocks. */
export function joined(ranges: Range[], blocks: number): Range[] {
  const within = ranges.map(({ from, to }) => ({ from: Math.max(0, from), to: Math.min(blocks, to) }))
  const result: Range[] = []
  for (const { from, to } of within.sort((one, other) => one.from - other.from)) {
    const last = result.at(-1)
    if (from >= to) continue
    if (last === undefined || from - last.to >= leastGap) result.push({ from, to })
    else last.to = Math.max(last.to, to)
  }
  return result
}

/** The blocks of a document between ranges, which begin with its first block and end with its last block. */
export function gapsBetween(ranges: readonly Range[], blocks: number): Range[] {
  const next = [...ranges.slice(1), { from: blocks, to: blocks }]
  return ranges
    .map(({ to }, index) => ({ from: to, to: next[index]?.from ?? blocks }))
    .filter(({ from, to }) => from < to)
}

/** The index of the block at a position of a document; for its end the index of the last block. */
export function indexAt(doc: DocumentNode, position: number): number {
  const { content, childCount } = doc
  let start = 0
  for (let index = 0; index < childCount; index += 1) {
    start += content.child(index).nodeSize
    if (position < start) return index
  }
  return Math.max(0, childCount - 1)
}

/** The position before a block; for the number of all blocks, the end of the document. */
export function startOf({ content, childCount }: DocumentNode, index: number): number {
  let start = 0
  for (let before = 0; before < Math.min(index, childCount); before += 1) start += content.child(before).nodeSize
  return start
}
