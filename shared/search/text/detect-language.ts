import { fold, streamSafe } from './fold.ts'
import { simple, stopWordLanguages } from './stems.ts'

// UTF-16 units at the beginning of a text that are looked at.
const sampleLength = 8000
const wordPattern = /[\p{L}\p{M}]+/gu

// The letters of each language, likely languages first. Irish and Basque are missing, since every letter of theirs is a
// letter of an earlier language. Alphabets of languages without a stemmer keep their words from being stemmed as words
// of another language.
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

/**
 * Guesses the language of a text from its first 8,000 UTF-16 units. Returns an ISO 639-1 code, or `simple` where no
 * language with a stemmer has most of the letters. Each stop word of a language counts for the language, and each
 * letter outside its alphabet counts against the language. So `Größen` is German without any stop word. A wrong guess
 * costs a short text little. But a text that is not stemmed is not found by other forms of its words, so any guess is
 * better.
 */
export function detectLanguage(text: string): string {
  const sample = streamSafe(text.slice(0, sampleLength))
  const votes = stopWordVotes(sample)
  const letters = letterCounts(sample)
  const guesses = alphabets.map(([language, alphabet]) => {
    const stopWords = votes.get(language) ?? 0
    return { language, stopWords, foreign: lettersOutside(alphabet, letters) }
  })
  // The sort is stable: of equally good guesses the likelier language stays in front.
  const [best] = guesses.sort((a, b) => b.stopWords - b.foreign - (a.stopWords - a.foreign))
  const count = letters.values().reduce((sum, number) => sum + number, 0)
  return best !== undefined && (best.stopWords > 0 || best.foreign * 2 < count) ? best.language : simple
}

function stopWordVotes(sample: string): ReadonlyMap<string, number> {
  const votes = new Map<string, number>()
  for (const [word] of sample.matchAll(wordPattern)) {
    for (const language of stopWordLanguages(fold(word)) ?? []) votes.set(language, (votes.get(language) ?? 0) + 1)
  }
  return votes
}

function letterCounts(sample: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  // The lower case of İ is an i with a mark. Only Turkish has the letter, so it is counted as the Turkish ı.
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
