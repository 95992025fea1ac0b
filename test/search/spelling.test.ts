import fc from 'fast-check'
import { editDistance, mostEdits, probesOf } from '../../shared/search/text/spelling.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'

const letters = fc.array(fc.constantFrom('a', 'b', 'c', 'é', 'ж', '😀'), { maxLength: 12 })

t.test('the number of typing errors between two words is counted as its definition says', (t) => {
  fc.assert(
    fc.property(letters, letters, fc.constantFrom(1, 2), (left, right, most) => {
      const expected = Math.min(plainDistance(left, right), most + 1)
      const counted = editDistance(left, right, most)
      if (counted !== expected) throw new Error(`${left.join('')} ${right.join('')}: ${counted}, not ${expected}`)
    }),
    runsTimes(5),
  )
  t.end()
})

t.test('every word that is one error away is looked for', (t) => {
  const word = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 4, maxLength: 7 })
  fc.assert(
    fc.property(word, fc.nat(), fc.constantFrom('insert', 'delete', 'replace', 'swap'), (typed, at, edit) => {
      const meant = edited(typed, at, edit)
      if (!isProbed(meant.join(''), typed.join(''), 1)) throw new Error(`${typed.join('')} misses ${meant.join('')}`)
    }),
    runsTimes(5),
  )
  t.end()
})

t.test('short words are left alone, and long words may have two errors', (t) => {
  t.strictSame([3, 4, 7, 8, 40].map(mostEdits), [0, 1, 1, 2, 2])
  t.ok(isProbed('middleware', 'midlewaer', 2))
  t.ok(isProbed('documentation', 'dokumentatoin', 2))
  t.end()
})

function isProbed(meant: string, typed: string, most: 1 | 2): boolean {
  const { beginning, end, edits } = probesOf(typed, most)
  return meant.startsWith(beginning) || meant.endsWith(end) || edits.includes(meant)
}

function edited(word: readonly string[], at: number, edit: string): string[] {
  const index = at % word.length
  if (edit === 'insert') return word.toSpliced(at % (word.length + 1), 0, 'x')
  if (edit === 'delete') return word.toSpliced(index, 1)
  if (edit === 'replace') return word.toSpliced(index, 1, 'x')
  const left = at % (word.length - 1)
  return word.toSpliced(left, 2, word[left + 1] ?? '', word[left] ?? '')
}

/** The optimal string alignment distance by its recursive definition. */
function plainDistance(left: readonly string[], right: readonly string[]): number {
  const known = new Map<string, number>()
  const distance = (i: number, j: number): number => {
    if (i === 0 || j === 0) return i + j
    const key = `${i} ${j}`
    const before = known.get(key)
    if (before !== undefined) return before
    const options = [
      distance(i - 1, j) + 1,
      distance(i, j - 1) + 1,
      distance(i - 1, j - 1) + Number(left[i - 1] !== right[j - 1]),
    ]
    if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1])
      options.push(distance(i - 2, j - 2) + 1)
    known.set(key, Math.min(...options))
    return Math.min(...options)
  }
  return distance(left.length, right.length)
}
