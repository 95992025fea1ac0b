import { createRequire } from 'node:module'
import { fold, lowerCase } from './fold.ts'
import { stopWordLists } from './stop-words.ts'

/** The language of a text in which no word is stemmed. */
const simple = 'simple'

/**
 * The language to index a document of a locale in: an ISO 639-1 code, or `simple` where no stemmer is known; null when
 * there is no locale.
 */
export function languageOf(locale: string | null): string | null {
  if (locale === null) return null
  const language = locale.split('-')[0]?.toLowerCase() ?? ''
  const known = language === 'nb' || language === 'nn' ? 'no' : language
  return known in algorithms ? known : simple
}

/**
 * Guesses the language of a text by a vote of its stop words, and without any by its letters: a wrong guess costs a short
 * text little, while one that is not stemmed at all is not found by other forms of its words. `simple` where no letters
 * tell of a language that is stemmed.
 */
export function detectLanguage(text: string): string {
  const sample = text.slice(0, sampleLength).normalize('NFKC')
  const votes = new Map<string, number>(likely.map((language) => [language, 0]))
  for (const [word] of sample.matchAll(wordPattern)) {
    for (const language of languagesByStopWord.get(fold(word)) ?? []) {
      votes.set(language, (votes.get(language) ?? 0) + 1)
    }
  }
  // Of languages with as many votes the first stays in front.
  const [leader] = [...votes].sort(([, left], [, right]) => right - left)
  if (leader !== undefined && leader[1] > 0) return leader[0]
  const letters = sample.match(/\p{L}/gu)?.length ?? 0
  const mostly = (script: RegExp) => (sample.match(script)?.length ?? 0) * 2 > letters
  if (mostly(/\p{Script=Cyrillic}/gu)) return 'ru'
  return mostly(/\p{Script=Latin}/gu) ? 'en' : simple
}

/** The languages in which a folded word is a stop word. */
export function stopWordLanguages(lexeme: string): ReadonlySet<string> | undefined {
  return languagesByStopWord.get(lexeme)
}

/**
 * Folded stems of a word (NFKC) in a language: of the word as it is written and, where it has accents, as it is written
 * without them. Empty for `simple`, and for what is no word: numbers, codes, and letters without end.
 */
export function stemsIn(language: string, word: string): readonly string[] {
  const stemmer = stemmerOf(language)
  const known = stemmer?.stems.get(word)
  if (known) return known
  if (!stemmer || !inflectedPattern.test(word)) return []
  const lower = lowerCase(word)
  const stems = [...new Set([lower, fold(word)].map((form) => fold(stemmer.stem(form))).filter(Boolean))]
  if (stemmer.stems.size >= cachedStems) stemmer.stems.clear()
  stemmer.stems.set(word, stems)
  return stems
}

type Stemmer = { stem(word: string): string; stems: Map<string, readonly string[]> }
type Snowball = { newStemmer(algorithm: string): { stem(word: string): string } }

const snowball: Snowball = createRequire(import.meta.url)('snowball-stemmers')
const sampleLength = 8000
// Which of several languages a few words are likely to be in.
const likely = ['en', 'fr', 'de', 'es']
const cachedStems = 100_000
const inflectedPattern = /^[\p{L}\p{M}\u00ad]{2,64}$/u
const wordPattern = /[\p{L}\p{M}]+/gu
const stemmers = new Map<string, Stemmer>()

const algorithms: Readonly<Record<string, string>> = {
  ar: 'arabic',
  ca: 'catalan',
  cs: 'czech',
  da: 'danish',
  de: 'german',
  en: 'english',
  es: 'spanish',
  eu: 'basque',
  fi: 'finnish',
  fr: 'french',
  ga: 'irish',
  hu: 'hungarian',
  hy: 'armenian',
  it: 'italian',
  nl: 'dutch',
  no: 'norwegian',
  pt: 'portuguese',
  ro: 'romanian',
  ru: 'russian',
  sl: 'slovene',
  sv: 'swedish',
  ta: 'tamil',
  tr: 'turkish',
}

const languagesByStopWord = indexStopWords()

function indexStopWords(): Map<string, Set<string>> {
  const index = new Map<string, Set<string>>()
  for (const [language, list] of Object.entries(stopWordLists)) {
    for (const word of list.trim().split(/\s+/)) {
      const lexeme = fold(word)
      index.set(lexeme, (index.get(lexeme) ?? new Set()).add(language))
    }
  }
  return index
}

function stemmerOf(language: string): Stemmer | undefined {
  const known = stemmers.get(language)
  const algorithm = algorithms[language]
  if (known || algorithm === undefined) return known
  const { stem } = snowball.newStemmer(algorithm)
  const stemmer = { stem, stems: new Map() }
  stemmers.set(language, stemmer)
  return stemmer
}
