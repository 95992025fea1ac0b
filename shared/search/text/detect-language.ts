import { fold, streamSafe } from './fold.ts'
import { simple, stopWordLanguages } from './stems.ts'

/**
 * Guesses the language of a text: an ISO 639-1 code, or `simple` where no language that is stemmed has most of its
 * letters. Each stop word of a language speaks for it, each letter that is not of its alphabet against it, so that
 * `Größen` is German without a stop word. A wrong guess costs a short text little, while a text that is not stemmed at all
 * is not found by other forms of its words.
 */
export function detectLanguage(text: string): string {
  const sample = streamSafe(text.slice(0, sampleLength))
  const votes = stopWordVotes(sample)
  const letters = letterCounts(sample)
  const guesses = alphabets.map(([language, alphabet]) => {
    const stopWords = votes.get(language) ?? 0
    return { language, stopWords, strange: lettersOutside(alphabet, letters) }
  })
  // Of guesses that are as good the first stays in front.
  const [best] = guesses.sort((a, b) => b.stopWords - b.strange - (a.stopWords - a.strange))
  const count = letters.values().reduce((sum, number) => sum + number, 0)
  return best !== undefined && (best.stopWords > 0 || best.strange * 2 < count) ? best.language : simple
}

const sampleLength = 8000
const wordPattern = /[\p{L}\p{M}]+/gu

// Likely languages first. Irish and Basque have no letter that an earlier one lacks. The letters of languages without a
// stemmer are there so that their words are not stemmed as those of another one.
const alphabets: readonly (readonly [language: string, alphabet: RegExp])[] = [
  ['en', /[a-z]/],
  ['fr', /[a-zàâçéèêëîïôœùûÿ]/],
  ['de', /[a-zäöüß]/],
  ['es', /[a-záéíñóúü]/],
  ['pt', /[a-zàáâãçéêíóôõú]/],
  ['it', /[a-zàèéìíîòóùú]/],
  ['sv', /[a-zåäöé]/],
  ['da', /[a-zæøåé]/],
  ['no', /[a-zæøåéèòôü]/],
  ['nl', /[a-zéèêëïóöü]/],
  ['fi', /[a-zåäöšž]/],
  ['tr', /[a-zçğıöşüâîû]/],
  ['hu', /[a-záéíóöőúüű]/],
  ['ro', /[a-zăâîșțşţ]/],
  ['cs', /[a-záčďéěíňóřšťúůýž]/],
  ['ca', /[a-zàçèéíïòóúü]/],
  ['sl', /[a-zčšž]/],
  [simple, /[a-ząćęłńóśźżčėįšųūžāēģīķļņáäďéíĺľňôŕťúýđðþæöõüċħŵŷâàãèêìòùăĩũơưạ-ỹ]/],
  ['ru', /[а-яё]/],
  [simple, /[а-яіїєґўјљњћђџѓќѕ]/],
  ['ar', /[ء-غف-ي]/],
  [simple, /[ء-ۿ]/],
  ['hy', /[ա-և]/],
  ['ta', /[அ-ஹ]/],
]

function stopWordVotes(sample: string): ReadonlyMap<string, number> {
  const votes = new Map<string, number>()
  for (const [word] of sample.matchAll(wordPattern)) {
    for (const language of stopWordLanguages(fold(word)) ?? []) votes.set(language, (votes.get(language) ?? 0) + 1)
  }
  return votes
}

function letterCounts(sample: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  // In lower case a capital I with a dot is an i with a mark; it is a letter of Turkish alone.
  for (const [letter] of sample.replaceAll('İ', 'ı').toLowerCase().matchAll(/\p{L}/gu)) {
    counts.set(letter, (counts.get(letter) ?? 0) + 1)
  }
  return counts
}

function lettersOutside(alphabet: RegExp, letters: ReadonlyMap<string, number>): number {
  let outside = 0
  for (const [letter, count] of letters) if (!alphabet.test(letter)) outside += count
  return outside
}
