import { createRequire } from 'node:module'
import { fold, lowerCase } from './fold.ts'
import { stopWordLists } from './stop-words.ts'

/** The language of a text in which no word is stemmed. */
export const simple = 'simple'

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
const cachedStems = 100_000
const inflectedPattern = /^[\p{L}\p{M}\u00ad]{2,64}$/u
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
