import type { TwoTexts } from '../body/change.ts'
import { matchSequences } from '../body/sequence.ts'

// The number of unchanged lines around a change.
const context = 3

/**
 * The difference of two texts in the unified format of `diff -u`, with three lines of context. `names` are the names of
 * the two texts. Each text is empty or ends with a line feed. Equal texts have an empty difference.
 */
export function unifiedText(texts: TwoTexts, names: TwoTexts): string {
  const [from, to] = [linesOf(texts.from), linesOf(texts.to)]
  const groups = groupsOf(editsBetween(from, to))
  if (groups.length === 0) return ''
  const hunks = groups.flatMap((group) => hunkLines(group, from, to))
  return `${[`--- ${names.from}`, `+++ ${names.to}`, ...hunks].join('\n')}\n`
}

/** A stretch of lines of one text that stands in place of a stretch of the other text. Ends are exclusive. */
type Edit = { from: number; fromEnd: number; to: number; toEnd: number }

function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1)
}

function editsBetween(from: readonly string[], to: readonly string[]): Edit[] {
  const ends = [...matchSequences(from, to), { a: from.length, b: to.length, length: 0 }]
  return ends
    .map(({ a, b }, index) => {
      const before = ends[index - 1] ?? { a: 0, b: 0, length: 0 }
      return { from: before.a + before.length, fromEnd: a, to: before.b + before.length, toEnd: b }
    })
    .filter((edit) => edit.from < edit.fromEnd || edit.to < edit.toEnd)
}

/** Puts edits together whose context would touch or overlap. */
function groupsOf(edits: readonly Edit[]): Edit[][] {
  const groups: Edit[][] = []
  for (const edit of edits) {
    const group = groups.at(-1)
    const last = group?.at(-1)
    if (group !== undefined && last !== undefined && edit.from - last.fromEnd <= 2 * context) group.push(edit)
    else groups.push([edit])
  }
  return groups
}

function hunkLines(edits: readonly Edit[], from: readonly string[], to: readonly string[]): string[] {
  const [first, last] = [edits[0] as Edit, edits.at(-1) as Edit]
  const before = Math.min(context, first.from)
  const after = Math.min(context, from.length - last.fromEnd)
  const [start, end] = [first.from - before, last.fromEnd + after]
  const lines = edits.flatMap((edit, index) => [
    ...prefixed(' ', from.slice(edits[index - 1]?.fromEnd ?? start, edit.from)),
    ...prefixed('-', from.slice(edit.from, edit.fromEnd)),
    ...prefixed('+', to.slice(edit.to, edit.toEnd)),
  ])
  const old = rangeOf(start, end)
  const current = rangeOf(first.to - before, last.toEnd + after)
  return [`@@ -${old} +${current} @@`, ...lines, ...prefixed(' ', from.slice(last.fromEnd, end))]
}

function prefixed(sign: string, lines: readonly string[]): string[] {
  return lines.map((line) => sign + line)
}

// Lines count from 1. An empty range names the line before it.
function rangeOf(start: number, end: number): string {
  return `${start === end ? start : start + 1},${end - start}`
}
