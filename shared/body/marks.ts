import type { Attrs, Mark } from './document.ts'

/** An inline node that is written already, and the marks that are still to be put around it. */
export type Leaf<T> = { node: T; marks: readonly Mark[] }

/**
 * Puts marks as elements around inline content. Neighbours that share a mark share the element. Where several marks
 * begin together, the mark that covers the most nodes is outside. Among marks of equal length, the order of `marks`
 * decides, the first outside.
 */
export function nestMarks<T>(leaves: readonly Leaf<T>[], wrap: (children: T[], mark: Mark) => T[]): T[] {
  const result: T[] = []
  let index = 0
  while (index < leaves.length) {
    const leaf = leaves[index] as Leaf<T>
    const [mark, end] = longestMark(leaves, index)
    if (mark === null) {
      result.push(leaf.node)
      index += 1
      continue
    }
    const run = leaves.slice(index, end).map(({ node, marks }) => ({ node, marks: without(marks, mark) }))
    result.push(...wrap(nestMarks(run, wrap), mark))
    index = end
  }
  return result
}

/** True if two inline nodes carry the same marks. Both lists must be in normal form. */
export function sameMarks(a: Mark[] | undefined, b: Mark[] | undefined): boolean {
  if (a === b) return true
  if (a === undefined || b === undefined || a.length !== b.length) return false
  return a.every((mark, index) => sameMark(mark, b[index]))
}

/** True if two marks in normal form are equal. */
export function sameMark(a: Mark, b: Mark | undefined): boolean {
  if (b === undefined || a.type !== b.type) return false
  return a.attrs === b.attrs || sameAttributes(a.attrs ?? {}, b.attrs ?? {})
}

function longestMark<T>(leaves: readonly Leaf<T>[], from: number): [Mark | null, number] {
  let best: Mark | null = null
  let bestEnd = from
  for (const mark of leaves[from]?.marks ?? []) {
    let end = from + 1
    while (leaves[end]?.marks.some((other) => sameMark(other, mark))) end += 1
    if (end > bestEnd) {
      best = mark
      bestEnd = end
    }
  }
  return [best, bestEnd]
}

function without(marks: readonly Mark[], mark: Mark): Mark[] {
  return marks.filter((other) => !sameMark(other, mark))
}

// The values of a mark's attributes are texts or null, so `===` compares them.
function sameAttributes(a: Attrs, b: Attrs): boolean {
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && a[name] === b[name])
}
