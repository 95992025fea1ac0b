/** PostgreSQL's bound on a lexeme is 2046 bytes. */
const maxLexemeBytes = 2046
const specialPattern = /['\\]/
const stemMark = '~'

/** Whether PostgreSQL takes a lexeme; a longer one is neither indexed nor searched. */
export function isIndexable(lexeme: string): boolean {
  return lexeme.length * 3 <= maxLexemeBytes || Buffer.byteLength(lexeme) <= maxLexemeBytes
}

/** A lexeme as `::tsvector` and `::tsquery` read it, whatever it contains. */
export function quoteLexeme(lexeme: string): string {
  return specialPattern.test(lexeme) ? `'${lexeme.replaceAll('\\', '\\\\').replaceAll("'", "''")}'` : `'${lexeme}'`
}

/** The lexeme that stands for a stem in the index; no surface form begins like it. */
export function markStem(stem: string): string {
  return `${stemMark}${stem}`
}

/**
 * The lexeme of the blocks in which a word has the impact of a tier, 1 (widest) to 4; no surface form has a ^. A marked
 * stem and the surface form that looks like it are one word: `boxes` and `box` together make the impact of `box`.
 */
export function tierLexeme(tier: number, lexeme: string): string {
  return `${tier}^${unmarked(lexeme)}`
}

/** A marked stem as it was, any other lexeme as it is. */
export function unmarked(lexeme: string): string {
  return lexeme.startsWith(stemMark) ? lexeme.slice(stemMark.length) : lexeme
}
