import { matchSequences } from '../../../shared/body/sequence.ts'
import { t } from '../../support/tap.ts'

const count = 1500
const numbered = (length: number, name: (index: number) => string) => Array.from({ length }, (_, index) => name(index))

/** Pairs of versions of a text that only a machine writes, with the number of words of each. */
const hostile: Record<string, (length: number) => [string[], string[]]> = {
  'all equal': (length) => [numbered(length, () => 'x'), numbered(length + 1, () => 'x')],
  alternating: (length) => [
    numbered(length, (index) => 'xy'.charAt(index % 2)),
    numbered(length, (index) => 'yxx'.charAt(index % 3)),
  ],
  reversed: (length) => [numbered(length, String), numbered(length, String).reverse()],
  'rewritten between equal words': (length) => [
    numbered(length, (index) => (index % 2 === 0 ? 'x' : `a${index}`)),
    numbered(length, (index) => (index % 2 === 0 ? 'x' : `b${index}`)),
  ],
  // Each word occurs twice until the next word is found.
  'one word at a time': (length) => [nested(length, 'a'), nested(length, 'b')],
}

t.test('no two versions of a text take many times as long to compare as their length', async (t) => {
  for (const [name, pair] of Object.entries(hostile)) {
    const [few, many] = [lookedAt(pair(count)), lookedAt(pair(4 * count))]
    t.ok(many < 6 * few, `${name}: ${few} and ${many}`)
  }
})

t.test('where the comparison ends early, what it has found is the same in both texts', async (t) => {
  for (const [name, pair] of Object.entries(hostile)) {
    const [a, b] = pair(count)
    const matches = matchSequences(a, b)
    const isSame = matches.every((match) => {
      const { length } = match
      return a.slice(match.a, match.a + length).join() === b.slice(match.b, match.b + length).join()
    })
    t.ok(isSame, name)
    const isAscending = matches.every((match, index) => {
      const before = matches[index - 1]
      return before === undefined || (before.a + before.length <= match.a && before.b + before.length <= match.b)
    })
    t.ok(isAscending, name)
  }
})

function nested(length: number, own: string): string[] {
  const numbers = Array.from({ length: Math.floor(length / 3) }, (_, index) => index).reverse()
  return numbers.flatMap((number) => [`w${number}`, `w${number + 1}`, `${own}${number}`])
}

/** The number of elements that a comparison reads. */
function lookedAt([a, b]: [string[], string[]]): number {
  let reads = 0
  const counted = (list: string[]) =>
    new Proxy(list, {
      get(target, name) {
        if (name !== 'length') reads += 1
        return Reflect.get(target, name)
      },
    })
  matchSequences(counted(a), counted(b))
  return reads
}
