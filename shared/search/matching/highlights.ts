import { codePoints } from '../../schema/code-points.ts'
import { contextOf, type Matches, type Span } from './match.ts'

/** A range of the text around a match, in code points: its start, and the end that does not belong to it. */
export type Highlight = [start: number, end: number]

/**
 * The matches of all terms in the text that `contextOf` shows around the first match, as ranges of this text in their
 * order. Matches that overlap are one range. A match that is not wholly in the context is left out.
 */
export function highlightsOf(text: string, { first, near }: { first: Span; near: Matches['near'] }): Highlight[] {
  const { before, after } = contextOf(text, first)
  const from = first.start - (before?.length ?? 0)
  const to = first.end + (after?.length ?? 0)
  const shown = near.filter(({ start, end }) => start >= from && end <= to)
  const highlights: Highlight[] = []
  let [at, position] = [from, 0]
  for (const { start, end } of merged(shown)) {
    const begins = position + codePoints(text.slice(at, start))
    position = begins + codePoints(text.slice(start, end))
    highlights.push([begins, position])
    at = end
  }
  return highlights
}

function merged(spans: readonly Span[]): Span[] {
  const apart: Span[] = []
  for (const span of spans.toSorted((left, right) => left.start - right.start)) {
    const last = apart.at(-1)
    if (last !== undefined && span.start < last.end) last.end = Math.max(last.end, span.end)
    else apart.push({ ...span })
  }
  return apart
}
