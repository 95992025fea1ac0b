import type { Slices } from '../../computations/slices.ts'
import type { BodyNode } from '../document.ts'
import { longestIncreasing } from '../sequence.ts'
import { plainText } from '../text.ts'

/**
 * Pairs old blocks with new blocks that say nearly the same, in order: blocks of one type, of whose words at least half
 * are common. Returns for each new block the index of its old block, or -1. The cost is proportional to the number of
 * words, whatever the blocks say. Only the first `maxWords` words are compared, counted on both sides.
 *
 * A word that occurs in one old block and in one new block only is a vote for this pair. Each new block takes the old
 * block with the most votes. Between the pairs that this makes, as many blocks as possible are paired if there are few
 * of them; otherwise, blocks at the same place are compared.
 */
export function* matchSimilar(
  olds: readonly BodyNode[],
  news: readonly BodyNode[],
  { maxWords = 20_000 } = {},
): Slices<number[]> {
  const partners = new Array<number>(news.length).fill(-1)
  if (olds.length === 0 || news.length === 0) return partners
  const [oldWords, newWords] = [yield* wordsOf(olds, maxWords / 2), yield* wordsOf(news, maxWords / 2)]
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
    const gap = { old, oldEnd: partner, next, nextEnd: end }
    for (const [oldIndex, index] of yield* pairsWithin(gap, isSimilar)) partners[index] = oldIndex
    old = partner + 1
    next = end + 1
  }
  return partners
}

// The least share of common words of two similar blocks.
const leastShare = 0.5

// In a gap with at most so many pairs of blocks, as many blocks as possible are paired.
const maxPairsCompared = 400

// In scripts without spaces, each sign counts as a word.
const signs = String.raw`\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}`
const word = new RegExp(`[${signs}]|[^\\s${signs}]+`, 'gv')

type Gap = { old: number; oldEnd: number; next: number; nextEnd: number }

function* pairsWithin(
  { old, oldEnd, next, nextEnd }: Gap,
  isSimilar: (old: number, next: number) => boolean,
): Slices<[number, number][]> {
  const [height, width] = [oldEnd - old, nextEnd - next]
  const pairs: [number, number][] = []
  if (height * width > maxPairsCompared) {
    for (let index = 0; index < Math.min(height, width); index++) {
      if (isSimilar(old + index, next + index)) pairs.push([old + index, next + index])
      yield
    }
    return pairs
  }
  // The most pairs of the blocks from i and from j on, in the row of i and the column of j.
  const most = Array.from({ length: height + 1 }, () => new Array<number>(width + 1).fill(0))
  const at = (i: number, j: number) => most[i]?.[j] ?? 0
  const similar = new Set<number>()
  for (let i = height - 1; i >= 0; i--) {
    for (let j = width - 1; j >= 0; j--) {
      if (isSimilar(old + i, next + j)) similar.add(i * width + j)
      const paired = similar.has(i * width + j) ? at(i + 1, j + 1) + 1 : 0
      ;(most[i] as number[])[j] = Math.max(paired, at(i + 1, j), at(i, j + 1))
      yield
    }
  }
  for (let [i, j] = [0, 0]; i < height && j < width; ) {
    if (similar.has(i * width + j) && at(i, j) === at(i + 1, j + 1) + 1) pairs.push([old + i++, next + j++])
    else if (at(i + 1, j) >= at(i, j + 1)) i += 1
    else j += 1
  }
  return pairs
}

/** The words of each of the first blocks. */
function* wordsOf(blocks: readonly BodyNode[], maxWords: number): Slices<string[][]> {
  const found: string[][] = []
  let left = maxWords
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
function addWords(node: BodyNode, words: string[]): void {
  const own = node.type === 'image' ? `${plainText(node)} ${node.attrs?.title ?? ''}` : plainText(node)
  if (node.content === undefined) for (const [found] of own.matchAll(word)) words.push(found)
  for (const child of node.content ?? []) addWords(child, words)
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
