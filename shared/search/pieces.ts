import { fold } from './fold.ts'
import { chunksOf, humpsOf, type Run } from './scripts.ts'

/** What a token is; `Token` says where each kind stands. */
export type Kind = 'word' | 'whole' | 'gram' | 'aside'

/** A token to be: `start` in the text its run was cut from, `step` its position after that of the run. */
export type Piece = { text: string; start: number; kind: Kind; step: number; stemmed: boolean }

/** What stands in the order of the text: words, grams, and at their first word what is glued together. */
export function piecesOf(run: Run): Piece[] {
  if (run.gram === 0) return wordPieces(run)
  return run.gram === 1 ? [] : gramPieces(run, 'gram')
}

/** What is read once more behind the text: emoji, and all parts of an identifier of which a word has capitals inside. */
export function asidesOf(run: Run): Piece[] {
  if (run.gram !== 0) return run.gram === 1 ? gramPieces(run, 'aside') : []
  if (run.text.toLowerCase() === run.text) return []
  const chunks = wordsOf(run.text)
  const humps = chunks.flatMap(({ text, start }) => {
    return humpsOf(text).map((hump) => ({ text: hump.text, start: run.start + start + hump.start }))
  })
  if (humps.length === chunks.length) return []
  return humps.map((hump, step) => ({ ...hump, kind: 'aside', step, stemmed: true }))
}

const baseNamePattern = /[._-]/

function wordPieces({ text, start }: Run): Piece[] {
  const words = wordsOf(text)
  const pieces: Piece[] = words.map((word, step) => {
    return { text: word.text, start: start + word.start, kind: 'word', step, stemmed: true }
  })
  if (words.length === 0 || (words.length === 1 && words[0]?.text.length === text.length)) return pieces
  const baseName = baseNameAt(text)
  const first = words.findIndex((word) => word.start === baseName)
  if (first > 0) {
    pieces.splice(first, 0, {
      text: text.slice(baseName),
      start: start + baseName,
      kind: 'whole',
      step: first,
      stemmed: false,
    })
  }
  return [{ text, start, kind: 'whole', step: 0, stemmed: false }, ...pieces]
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
    return { text: text.slice(index, end), start: start + index, kind, step, stemmed: false }
  })
}
