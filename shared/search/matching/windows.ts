import { setImmediate } from 'node:timers/promises'
import { tokenise } from '../text/tokenise.ts'
import { type Matches, matchesOf, nearTo, type Span } from './match.ts'
import type { Term } from './term.ts'

/** Texts of at most this many UTF-16 units are matched as a whole, in some ten milliseconds. */
export const windowSize = 65_536

const whiteSpace = /\s/

/** A counter of matched text, which lets other work of the process run after each `windowSize` UTF-16 units. */
export class YieldingTurns {
  #units = 0

  async take(units: number): Promise<void> {
    if (this.#units > 0 && this.#units + units > windowSize) {
      await setImmediate()
      this.#units = 0
    }
    this.#units += units
  }
}

/**
 * Finds terms in a text of any length that was indexed in one language. A text of more than `windowSize` units is
 * matched window by window. A phrase across the border of two windows is not counted. Where nothing matches at all, the
 * text is cut once more at other places, so that such a phrase is found.
 */
export async function matchesInWindows(
  text: string,
  reading: { terms: readonly Term[]; language: string; turns: YieldingTurns },
): Promise<Matches> {
  const matches = await matchesInAll(windowsOf(text), reading)
  if (matches.first !== null || text.length <= windowSize) return matches
  return matchesInAll(windowsOf(text, windowSize / 2), reading)
}

/**
 * Cuts a text into windows, which together are the text. A window ends after white space where there is any in its
 * second half, else after `windowSize` units, and never inside a surrogate pair. A smaller first window shifts all
 * later windows. @internal
 */
export function windowsOf(text: string, firstSize = windowSize): { text: string; start: number }[] {
  const windows: { text: string; start: number }[] = []
  let start = 0
  do {
    const end = endOfWindow(text, { start, size: start === 0 ? firstSize : windowSize })
    windows.push({ text: text.slice(start, end), start })
    start = end
  } while (start < text.length)
  return windows
}

async function matchesInAll(
  windows: readonly { text: string; start: number }[],
  { terms, language, turns }: { terms: readonly Term[]; language: string; turns: YieldingTurns },
): Promise<Matches> {
  let all = matchesOf(terms, [])
  for (const { text, start } of windows) {
    await turns.take(text.length)
    const found = matchesOf(terms, tokenise(text, [language]))
    const inText = (span: Span) => ({ start: span.start + start, end: span.end + start })
    all = bothOf(all, { ...found, first: found.first && inText(found.first), near: found.near.map(inText) })
  }
  return all
}

function bothOf(left: Matches, right: Matches): Matches {
  const first = left.first ?? right.first
  return {
    matchCount: left.matchCount + right.matchCount,
    occurrences: left.occurrences.map(({ term, count, verbatim, whole }, index) => {
      const further = right.occurrences[index]
      return {
        term,
        count: count + (further?.count ?? 0),
        verbatim: verbatim || further?.verbatim === true,
        whole: whole || further?.whole === true,
      }
    }),
    first,
    near: nearTo(first, left.near.concat(right.near)),
  }
}

function endOfWindow(text: string, { start, size }: { start: number; size: number }): number {
  const end = start + size
  if (end >= text.length) return text.length
  for (let index = end; index > start + size / 2; index -= 1) {
    if (whiteSpace.test(text.charAt(index - 1))) return index
  }
  return isTrailingSurrogate(text.charCodeAt(end)) ? end - 1 : end
}

function isTrailingSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00
}
