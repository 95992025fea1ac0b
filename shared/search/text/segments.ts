import { fold } from './fold.ts'
import { chunksOf, humpsOf, type Run } from './scripts.ts'

/** What a token is; `Token` says where each kind stands. */
export type Kind = 'word' | 'whole' | 'gram' | 'aside'

/**
 * A token to be: `start` in the text its run was cut from, `step` its position after that of the run. `repeated` is what
 * stands elsewhere already and is only there to be followed by others. `sought` is what the piece is found by where that
 * is not its text.
 */
export type Piece = {
  text: string
  start: number
  kind: Kind
  step: number
  stemmed: boolean
  repeated: boolean
  sought?: string
}

/** What stands in the order of the text: words, grams, and at their first word what is glued together. */
export function piecesOf(run: Run): Piece[] {
  if (run.gram === 0) return wordPieces(run)
  return run.gram === 1 ? [] : gramPieces(run, 'gram')
}

/**
 * What is read once more behind the text, in sequences that stand apart: emoji, and the parts of words with capitals
 * inside. Where such a word is part of an identifier, `repeated` is the identifier in all its parts.
 */
export function asidesOf(run: Run): { counted: Piece[][]; repeated: Piece[] } {
  if (run.gram === 1) return { counted: [gramPieces(run, 'aside')], repeated: [] }
  if (run.gram !== 0 || run.text.toLowerCase() === run.text) return { counted: [], repeated: [] }
  const words = wordsOf(run.text).map((word) =>
    humpsOf(word.text).map(({ text, start }) => ({ text, start: run.start + word.start + start })),
  )
  const broken = words.filter((humps) => humps.length > 1)
  if (broken.length === 0) return { counted: [], repeated: [] }
  if (broken.length === words.length) return { counted: [sequence(words.flat(), false)], repeated: [] }
  return { counted: broken.map((humps) => sequence(humps, false)), repeated: sequence(words.flat(), true) }
}

function sequence(humps: readonly { text: string; start: number }[], repeated: boolean): Piece[] {
  return humps.map((hump, step) => ({ ...hump, kind: 'aside', step, stemmed: true, repeated }))
}

const baseNamePattern = /[._-]/

function wordPieces({ text, start }: Run): Piece[] {
  const words = wordsOf(text)
  const pieces: Piece[] = words.map((word, step) => {
    return { text: word.text, start: start + word.start, kind: 'word', step, stemmed: true, repeated: false }
  })
  if (words.length === 0 || (words.length === 1 && words[0]?.text.length === text.length)) return pieces
  const baseName = baseNameAt(text)
  const whole = { kind: 'whole', stemmed: false, repeated: false } as const
  return pieces.flatMap((piece): Piece[] => {
    const { start: at, step } = piece
    const isBaseName = step > 0 && at === start + baseName
    return [
      ...(step === 0 ? [{ ...whole, text, start, step }] : []),
      ...(isBaseName ? [{ ...whole, text: text.slice(baseName), start: at, step }] : []),
      ...(isVersion(text, at - start)
        ? [{ ...whole, text: piece.text, sought: piece.text.slice(1), start: at, step }]
        : []),
      piece,
    ]
  })
}

/** A version without the `v` before its number, by which it is sought: `2.1.0` of `v2.1.0`. */
export function withoutVersionSign(text: string): string {
  return text.replace(versionSign, '')
}

const versionSign = /(?<![\p{L}\p{M}\p{N}])v(?=\p{N}+\.\p{N})/giu
const versionAt = /v\p{N}+\.\p{N}/iuy

/** Whether a word of a run, of which the index is given, is the first of a version with a `v`. */
function isVersion(run: string, index: number): boolean {
  versionAt.lastIndex = index
  return versionAt.test(run)
}

function wordsOf(run: string): { text: string; start: number }[] {
  return chunksOf(run).filter(({ text }) => fold(text) !== '')
}

/** Where the file name begins at the end of a path; -1 where there is none, or where it is a single word. */
function baseNameAt(path: string): number {
  const start = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1
  return start > 0 && baseNamePattern.test(path.slice(start)) ? start : -1
}

function gramPieces({ text, start, gram }: Run, kind: 'gram' | 'aside'): Piece[] {
  const characters = Array.from(text.matchAll(/./gsu), ({ 0: character, index }) => ({ character, index }))
  const visible = characters.filter(({ character }) => fold(character) !== '')
  return visible.map(({ index }, step) => {
    const last = visible[Math.min(step + gram, visible.length) - 1]
    const end = last ? last.index + last.character.length : text.length
    return { text: text.slice(index, end), start: start + index, kind, step, stemmed: false, repeated: false }
  })
}
