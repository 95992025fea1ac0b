import type { Mark } from '../document.ts'
import { sameMark } from '../marks.ts'

/** A neighbour of inline code that has its marks and its text. The text is null for a node other than a text. */
export type Neighbour = { marks: readonly Mark[]; text: string | null }

// Emphasis can neither begin before white space nor end behind white space.
const emphasis = new Set(['bold', 'italic', 'strike'])

/**
 * The marks that Markdown puts around inline code, although a body keeps only links beside code. They are the marks
 * that both neighbours have. They also include the emphasis of a neighbour that ends in white space beside the code, or
 * that is only punctuation. So bold text that contains code is written as people write such text. White space at the
 * edge of a mark then needs no character reference.
 */
export function marksAcrossCode(before: Neighbour | undefined, after: Neighbour | undefined): Mark[] {
  const left = spanning(before)
  const right = spanning(after)
  const both = left.filter((mark) => includes(right, mark))
  const leaning = [...(leans(before, /\s$/) ? left : []), ...(leans(after, /^\s/) ? right : [])].filter(
    (mark) => emphasis.has(mark.type) && !includes(both, mark),
  )
  return [...both, ...leaning]
}

// A neighbour leans on the code when it has white space directly beside the code. A neighbour of punctuation alone,
// such as the colon of a bold term, leans as well.
function leans(neighbour: Neighbour | undefined, edge: RegExp): boolean {
  const text = neighbour?.text ?? ''
  return edge.test(text) || (text !== '' && !/[^\p{P}\s]/u.test(text))
}

function spanning(neighbour: Neighbour | undefined): readonly Mark[] {
  return neighbour?.marks.filter((mark) => mark.type !== 'link') ?? []
}

function includes(marks: readonly Mark[], mark: Mark): boolean {
  return marks.some((other) => sameMark(other, mark))
}
