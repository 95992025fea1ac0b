/**
 * Splits a text into words, stretches of white space, and single graphemes of everything else. In scripts that write no
 * spaces between words, each grapheme stands alone. The parts joined are the text, and no grapheme is ever split.
 */
export function wordsOf(text: string): string[] {
  return beyondLatin.test(text) ? joinedGraphemes(text) : (text.match(word) ?? [])
}

// Combining marks and everything behind them. Each character before them is a grapheme by itself, apart from line ends.
const beyondLatin = /[\u0300-\uffff]/
const word = /[\p{L}\p{N}_]+|\s+|./gsv
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
// The beginning of a grapheme that is part of a word, and of one that is part of a stretch of white space.
const inWord = /^[[\p{L}\p{N}\p{M}_]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]/v
const inSpace = /^\s/

function joinedGraphemes(text: string): string[] {
  const words: string[] = []
  let before: 'word' | 'space' | 'single' = 'single'
  for (const { segment } of graphemes.segment(text)) {
    const kind = inWord.test(segment) ? 'word' : inSpace.test(segment) ? 'space' : 'single'
    if (kind !== 'single' && kind === before) words.push(`${words.pop()}${segment}`)
    else words.push(segment)
    before = kind
  }
  return words
}
