import { fold } from './fold.ts'

// Invisible characters that may stand inside a word: soft hyphen, joiners, zero-width space, direction marks.
const invisible = '\\u00ad\\u200b-\\u200f\\u2060\\ufe00-\\ufe0f\\ufeff'
const alphanumeric = '[\\p{L}\\p{M}\\p{N}]'
const bigramScript = '\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Hang}\\p{scx=Bopo}'
const trigramScript = '\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}'
const bigramLetter = `[[${bigramScript}]&&${alphanumeric}]`
const trigramLetter = `[[${trigramScript}]&&${alphanumeric}]`
const letter = `[${alphanumeric}--[${bigramScript}${trigramScript}]]`
const emoji = '[\\p{Extended_Pictographic}\\p{Regional_Indicator}]'
const word = `${letter}[${letter}${invisible}]*`
// The index marks its own lexemes with ^, ~ and @. So no token begins with one of them, and no token contains a ^.
const glue = "._\\-\\/\\\\:@#+&'’=?%$~"

const runPattern = new RegExp(
  `(${bigramLetter}[${bigramLetter}${invisible}]*)|(${trigramLetter}[${trigramLetter}${invisible}]*)` +
    `|${word}(?:[${glue}]{1,3}${word})*(?:[+#]{1,2}(?!${letter}))?` +
    `|(${emoji}[${emoji}\\p{Emoji_Modifier}${invisible}]*)`,
  'gv',
)
const trigramPattern = new RegExp(`^[${trigramScript}]`, 'v')
const gluePattern = new RegExp(`[${glue}]`, 'u')
const wordPattern = new RegExp(`[^${glue}]+`, 'gu')
const subwordBorder = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u
const baseNamePattern = /[._-]/
const versionSign = /(?<![\p{L}\p{M}\p{N}])v(?=\p{N}+\.\p{N})/giu
const versionAt = /v\p{N}+\.\p{N}/iuy

/** A stretch of text that is cut into segments in one way; offsets are UTF-16 units of the normalised text. */
export type Run = {
  text: string
  start: number
  /** Characters of an n-gram; 0 where the run is made of words. */
  ngram: 0 | 1 | 2 | 3
}

/**
 * Cuts a text in NFKC into runs. Chinese, Japanese and Korean are cut into bigrams; Thai, Lao, Khmer and Burmese into
 * trigrams; emoji into single characters. Runs of all other scripts are words, identifiers and paths, together with the
 * punctuation that glues them.
 */
export function runsOf(text: string): Run[] {
  const runs: Run[] = []
  runPattern.lastIndex = 0
  // `exec` is used because `matchAll` would compile the large pattern again for every text.
  for (let match = runPattern.exec(text); match !== null; match = runPattern.exec(text)) {
    const [run, bigrams, trigrams, emojis] = match
    runs.push({ text: run, start: match.index, ngram: bigrams ? 2 : trigrams ? 3 : emojis ? 1 : 0 })
  }
  return runs
}

/** A kind of segment. The docstring of the type `Token` explains the four kinds. */
export type SegmentKind = 'word' | 'whole' | 'ngram' | 'appended'

/** A stretch of a run that becomes a token, unless nothing is left of it after folding. */
export type Segment = {
  text: string
  /** UTF-16 offset in the normalised text. */
  start: number
  kind: SegmentKind
  /** The position of the segment, counted from the first position of its run. */
  step: number
  stemmed: boolean
  /** Whether the segment repeats a word of another position. From the repeated segment phrases can continue. */
  repeated: boolean
  /** The text by which the segment is found, where that differs from `text`. */
  foundAs?: string
}

/** The segments of a run in the order of the text: words, n-grams, and a whole identifier or path at its first word. */
export function segmentsOf(run: Run): Segment[] {
  if (run.ngram === 0) return wordSegments(run)
  return run.ngram === 1 ? [] : ngramSegments(run, 'ngram')
}

/**
 * Returns the segments of a run that are appended behind the text: emoji, and the subwords of words with inner
 * capitals. `counted` holds sequences of such segments; no phrase continues from one sequence to the next. Where such a
 * word is part of an identifier, `repeated` is the whole identifier, cut into all its words and subwords.
 */
export function appendedSegmentsOf(run: Run): { counted: Segment[][]; repeated: Segment[] } {
  if (run.ngram === 1) return { counted: [ngramSegments(run, 'appended')], repeated: [] }
  if (run.ngram !== 0 || run.text.toLowerCase() === run.text) return { counted: [], repeated: [] }
  const words = visibleWordsOf(run.text).map((word) =>
    subwordsOf(word.text).map(({ text, start }) => ({ text, start: run.start + word.start + start })),
  )
  const divided = words.filter((subwords) => subwords.length > 1)
  if (divided.length === 0) return { counted: [], repeated: [] }
  if (divided.length === words.length) return { counted: [sequence(words.flat(), false)], repeated: [] }
  return { counted: divided.map((subwords) => sequence(subwords, false)), repeated: sequence(words.flat(), true) }
}

/** Removes the `v` of version numbers: `v2.1.0` becomes `2.1.0`. */
export function withoutVersionSign(text: string): string {
  return text.replace(versionSign, '')
}

/** Whether an n-gram has fewer characters than a full n-gram of its script. */
export function isShortNgram(ngram: string): boolean {
  return Array.from(ngram).length < (trigramPattern.test(ngram) ? 3 : 2)
}

type Part = { text: string; start: number }

function sequence(parts: readonly Part[], repeated: boolean): Segment[] {
  return parts.map((part, step) => ({ ...part, kind: 'appended', step, stemmed: true, repeated }))
}

function wordSegments({ text, start }: Run): Segment[] {
  const words = visibleWordsOf(text)
  const segments: Segment[] = words.map((word, step) => {
    return { text: word.text, start: start + word.start, kind: 'word', step, stemmed: true, repeated: false }
  })
  if (words.length === 0 || (words.length === 1 && words[0]?.text.length === text.length)) return segments
  const baseName = baseNameAt(text)
  const whole = { kind: 'whole', stemmed: false, repeated: false } as const
  return segments.flatMap((segment): Segment[] => {
    const { start: at, step } = segment
    const isBaseName = step > 0 && at === start + baseName
    return [
      ...(step === 0 ? [{ ...whole, text, start, step }] : []),
      ...(isBaseName ? [{ ...whole, text: text.slice(baseName), start: at, step }] : []),
      ...(isVersion(text, at - start)
        ? [{ ...whole, text: segment.text, foundAs: segment.text.slice(1), start: at, step }]
        : []),
      segment,
    ]
  })
}

/** Whether the word at an index of a run begins a version number with a `v`. */
function isVersion(run: string, index: number): boolean {
  versionAt.lastIndex = index
  return versionAt.test(run)
}

function visibleWordsOf(run: string): Part[] {
  return wordsOf(run).filter(({ text }) => fold(text) !== '')
}

/** The words of a glued run with their offsets in the run: `src/lib/db.ts` gives src, lib, db, ts. */
function wordsOf(run: string): Part[] {
  if (!gluePattern.test(run)) return [{ text: run, start: 0 }]
  return Array.from(run.matchAll(wordPattern), ({ 0: text, index }) => ({ text, start: index }))
}

/** The subwords of a word, cut at its capitals, with their offsets in the word: `HTTPServer` gives HTTP, Server. */
function subwordsOf(word: string): Part[] {
  if (word.toLowerCase() === word) return [{ text: word, start: 0 }]
  let start = 0
  return word.split(subwordBorder).map((text) => {
    const subword = { text, start }
    start += text.length
    return subword
  })
}

/** The index at which the file name of a path begins; -1 where there is no file name of several words. */
function baseNameAt(path: string): number {
  const start = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1
  return start > 0 && baseNamePattern.test(path.slice(start)) ? start : -1
}

function ngramSegments({ text, start, ngram }: Run, kind: 'ngram' | 'appended'): Segment[] {
  const characters = Array.from(text.matchAll(/./gsu), ({ 0: character, index }) => ({ character, index }))
  const visible = characters.filter(({ character }) => fold(character) !== '')
  return visible.map(({ index }, step) => {
    const last = visible[Math.min(step + ngram, visible.length) - 1]
    const end = last ? last.index + last.character.length : text.length
    return { text: text.slice(index, end), start: start + index, kind, step, stemmed: false, repeated: false }
  })
}
