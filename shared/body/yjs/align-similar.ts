import type { Slices } from '../../computations/slices.ts'
import type { BodyNode } from '../document.ts'
import { longestIncreasing } from '../sequence.ts'

/**
 * Pairs old blocks with new blocks that say nearly the same, in order: blocks of one type, of whose words at least half
 * are common. Returns for each new block the index of its old block, or -1. The cost is proportional to the number of
 * words, whatever the blocks say.
 *
 * A word that occurs in one old block and in one new block only is a vote for this pair. Each new block takes the old
 * block with the most votes. Between the pairs that this makes, blocks at the same place are compared.
 */
export function* matchSimilar(olds: readonly BodyNode[], news: readonly BodyNode[]): Slices<number[]> {
  const partners = new Array<number>(news.length).fill(-1)
  if (olds.length === 0 || news.length === 0) return partners
  const [oldWords, newWords] = [yield* wordsOf(olds), yield* wordsOf(news)]
  const isSimilar = (old: number, next: number) =>
    olds[old]?.type === news[next]?.type && areSimilar(oldWords[old] ?? [], newWords[next] ?? [])
  const voted: number[] = []
  for (const [next, old] of (yield* votes(oldWords, newWords)).entries()) {
    voted.push(old >= 0 && isSimilar(old, next) ? old : -1)
    yield
  }
  for (const next of longestIncreasing(voted)) partners[next] = voted[next] ?? -1
  let [old, next] = [0, 0]
  for (let end = 0; end <= news.length; end++) {
    const partner = end === news.length ? olds.length : (partners[end] ?? -1)
    if (partner < 0) continue
    const count = Math.min(partner - old, end - next)
    for (let index = 0; index < count; index++) {
      if (isSimilar(old + index, next + index)) partners[next + index] = old + index
      yield
    }
    old = partner + 1
    next = end + 1
  }
  return partners
}

// The least share of common words of two similar blocks.
const leastShare = 0.5

// The most words that are compared, counted on both sides. Blocks beyond them count as rewritten.
const mostWords = 20_000
// A script without spaces: each of its signs counts as a word.
const withoutSpaces = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/v

/** The words of each of the first blocks. */
function* wordsOf(blocks: readonly BodyNode[]): Slices<string[][]> {
  const found: string[][] = []
  let left = mostWords / 2
  for (const block of blocks) {
    const words: string[] = []
    if (left > 0) addWords(block, words)
    left -= words.length
    found.push(words)
    yield
  }
  return found
}

/** Adds the words of all texts at and below a node. A word may occur several times. */
function addWords({ text, content }: BodyNode, words: string[]): void {
  if (text !== undefined) for (const word of withoutSpaces.test(text) ? text : text.split(' ')) words.push(word)
  for (const child of content ?? []) addWords(child, words)
}

/** For each new block the old block with which it shares the most words that are unique on both sides, or -1. */
function* votes(oldWords: readonly string[][], newWords: readonly string[][]): Slices<number[]> {
  const places = yield* blocksByWord(oldWords)
  const unique = yield* blocksByWord(newWords)
  const found: number[] = []
  for (const [next, words] of newWords.entries()) {
    const counts = new Map<number, number>()
    for (const word of new Set(words)) {
      const old = places.get(word) ?? -1
      if (old >= 0 && unique.get(word) === next) counts.set(old, (counts.get(old) ?? 0) + 1)
    }
    let best = -1
    for (const [old, count] of counts) if (best < 0 || count > (counts.get(best) ?? 0)) best = old
    found.push(best)
    yield
  }
  return found
}

/** The block of each word, or -1 for a word of several blocks. */
function* blocksByWord(blocks: readonly string[][]): Slices<Map<string, number>> {
  const places = new Map<string, number>()
  for (const [index, words] of blocks.entries()) {
    for (const word of words) {
      const known = places.get(word)
      places.set(word, known === undefined || known === index ? index : -1)
    }
    yield
  }
  return places
}

function areSimilar(a: readonly string[], b: readonly string[]): boolean {
  const left = new Map<string, number>()
  for (const word of a) left.set(word, (left.get(word) ?? 0) + 1)
  let common = 0
  for (const word of b) {
    const count = left.get(word) ?? 0
    if (count > 0) common += 1
    left.set(word, count - 1)
  }
  return common > 0 && 2 * common >= leastShare * (a.length + b.length)
}
