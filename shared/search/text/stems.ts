import snowball from 'snowball-stemmers'
import { fold, lowerCase } from './fold.ts'
import { stopWordLists } from './stop-words.ts'

/** The language of a text whose words are not stemmed. */
export const simple = 'simple'

const cachedStems = 100_000
const inflectedPattern = /^[\p{L}\p{M}\u00ad]{2,64}$/u

// The Snowball algorithm of each language by ISO 639-1 code.
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

/**
 * The language in which a document of a locale is indexed: an ISO 639-1 code, or `simple` where no stemmer is known.
 * Null where the document has no locale.
 */
export function languageOf(locale: string | null): string | null {
  if (locale === null) return null
  const language = locale.split('-')[0]?.toLowerCase() ?? ''
  const known = language === 'nb' || language === 'nn' ? 'no' : language
  return known in algorithms ? known : simple
}

/** The languages in which a folded word is a stop word; undefined where there are none. */
export function stopWordLanguages(lexeme: string): ReadonlySet<string> | undefined {
  return languagesByStopWord.get(lexeme)
}

/**
 * The folded stems of a word in NFKC. A word with accents is stemmed as it is written and without its accents, since
 * people leave accents out. The language `simple` has no stems. Numbers, codes and words of over 64 letters have no
 * stems in any language.
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

const stemmers = new Map<string, Stemmer>()

function stemmerOf(language: string): Stemmer | undefined {
  const known = stemmers.get(language)
  const algorithm = algorithms[language]
  if (known || algorithm === undefined) return known
  const { stem } = snowball.newStemmer(algorithm)
  const stemmer = { stem, stems: new Map() }
  stemmers.set(language, stemmer)
  return stemmer
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
