// A word of at most this many characters is never corrected, since too many words are near it.
const leastLength = 4
// From this length on, a word may have two errors.
const twoErrorsFrom = 8

/** How many edits a typed word may be away from the word that was meant, by its length in code points. */
export function mostEdits(length: number): 0 | 1 | 2 {
  if (length < leastLength) return 0
  return length < twoErrorsFrom ? 1 : 2
}

/**
 * What finds the words within a number of edits of a word: they begin with `beginning`, end with `end`, or are among
 * `edits`. Of one edit, either half of the word is free, or a swap of the letters between both halves is in `edits`. Of
 * two edits, the first two or the last two characters are free, except where both have an edit; such words are missed.
 */
export function probesOf(word: string, most: 1 | 2): { beginning: string; end: string; edits: string[] } {
  const characters = Array.from(word)
  const { length } = characters
  const free = most === 1 ? Math.floor(length / 2) : 2
  const beginning = characters.slice(0, free).join('')
  const end = characters.slice(-free).join('')
  const swaps = characters.slice(1).map((_, index) => {
    const [left = '', right = ''] = characters.slice(index, index + 2)
    return [...characters.slice(0, index), right, left, ...characters.slice(index + 2)].join('')
  })
  const deletions = characters.map((_, index) => characters.toSpliced(index, 1).join(''))
  return { beginning, end, edits: [...swaps, ...deletions] }
}

/**
 * The number of edits between two words, or `most` + 1 where there are more. An edit inserts, deletes or replaces a
 * character, or swaps two neighbours (the optimal string alignment distance). Takes time in proportion to the length of
 * the words.
 */
export function editDistance(left: readonly string[], right: readonly string[], most: number): number {
  if (Math.abs(left.length - right.length) > most) return most + 1
  let beforeLast: number[] = []
  let last = right.map((_, index) => index + 1)
  last.unshift(0)
  for (let row = 1; row <= left.length; row += 1) {
    const current = new Array<number>(right.length + 1).fill(most + 1)
    current[0] = row
    // Cells farther from the diagonal than `most` hold more edits anyway.
    for (let column = Math.max(1, row - most); column <= Math.min(right.length, row + most); column += 1) {
      const [a, b] = [left[row - 1], right[column - 1]]
      let edits = Math.min(
        (last[column] ?? most) + 1,
        (current[column - 1] ?? most) + 1,
        (last[column - 1] ?? most) + (a === b ? 0 : 1),
      )
      if (row > 1 && column > 1 && a === right[column - 2] && left[row - 2] === b) {
        edits = Math.min(edits, (beforeLast[column - 2] ?? most) + 1)
      }
      current[column] = edits
    }
    beforeLast = last
    last = current
  }
  return Math.min(last[right.length] ?? most + 1, most + 1)
}
