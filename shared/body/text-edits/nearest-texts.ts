import { plainText } from '../text.ts'
import { GraphemeBoundaries } from './grapheme-boundaries.ts'
import type { Stretch } from './occurrences.ts'
import type { Textblock } from './textblocks.ts'

/** A text of a block that resembles a text which was not found. */
export type NearestText = { block_id: string; text: string }

// How many texts are named, the smallest share of equal trigrams, and the UTF-16 units shown around the likeness.
const namedTexts = 3
const leastLikeness = 0.4
const shownAround = 40

/**
 * The stretches of text that resemble a text the most, of at most three textblocks and without regard to case. They are
 * shown as they stand in the body, so that a caller can search for the right text next. Likeness is the share of
 * trigrams that a stretch of the same length has in common with the text. Takes time in proportion to the textblocks.
 */
export function nearestTexts(textblocks: Iterable<Textblock>, find: string): NearestText[] {
  const wanted = gramsOf(comparable(find))
  let best: (NearestText & { likeness: number })[] = []
  for (const { node } of textblocks) {
    const text = plainText(node)
    const { likeness, start, end } = likestStretch(text, wanted)
    if (likeness < leastLikeness || likeness <= (best[namedTexts - 1]?.likeness ?? 0)) continue
    const near = { block_id: node.attrs.id, text: shown(text, { start, end }), likeness }
    best = [...best, near].sort((a, b) => b.likeness - a.likeness).slice(0, namedTexts)
  }
  return best.map(({ block_id, text }) => ({ block_id, text }))
}

/** The parts of a text that are compared: `size` units each, with how often each part occurs. */
type Grams = { size: number; length: number; total: number; counts: ReadonlyMap<string, number> }

function gramsOf(text: string): Grams {
  const size = Math.min(3, text.length)
  const counts = new Map<string, number>()
  const total = text.length - size + 1
  for (let at = 0; at < total; at += 1) {
    const gram = text.slice(at, at + size)
    counts.set(gram, (counts.get(gram) ?? 0) + 1)
  }
  return { size, length: text.length, total, counts }
}

// Moves a window of the length of the wanted text over a text, and counts the grams that both have in common.
function likestStretch(original: string, { size, length, total, counts }: Grams): Stretch & { likeness: number } {
  const text = comparable(original)
  const inWindow = new Map<string, number>()
  let [common, most, start] = [0, 0, 0]
  const count = (at: number, step: 1 | -1) => {
    const gram = text.slice(at, at + size)
    const wanted = counts.get(gram)
    if (wanted === undefined) return
    const before = inWindow.get(gram) ?? 0
    inWindow.set(gram, before + step)
    if (Math.min(before, wanted) !== Math.min(before + step, wanted)) common += step
  }
  for (let at = 0; at + size <= text.length; at += 1) {
    count(at, 1)
    if (at >= total) count(at - total, -1)
    if (common <= most) continue
    most = common
    start = Math.max(0, at - total + 1)
  }
  return { likeness: most / total, start, end: Math.min(text.length, start + length) }
}

// Lower case, unless that would shift the offsets.
function comparable(text: string): string {
  const lower = text.toLowerCase()
  return lower.length === text.length ? lower : text
}

function shown(text: string, { start, end }: Stretch): string {
  const graphemes = new GraphemeBoundaries(text)
  let from = Math.max(0, start - shownAround)
  let to = Math.min(text.length, end + shownAround)
  while (isWithin(text, from, graphemes)) from += 1
  while (isWithin(text, to, graphemes)) to += 1
  return text.slice(from, to)
}

function isWithin(text: string, offset: number, graphemes: GraphemeBoundaries): boolean {
  const unit = text.charCodeAt(offset)
  return (offset > 0 && unit >= 0xdc00 && unit <= 0xdfff) || !graphemes.isBoundary(offset)
}
