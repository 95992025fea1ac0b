import { printParseErrorCode, visit } from 'jsonc-parser'

/**
 * Describes in one sentence where a text stops being JSON. The sentence names the line and the column, both counted
 * from 1. The sentence also says what is expected there, and quotes at most 20 characters of what was found. A text
 * that is nested too deep to be parsed again gets no position.
 */
export function describeBrokenJson(text: string): string {
  const mistake = firstMistake(text)
  if (mistake === null) return 'The body is not valid JSON.'
  const { line, column, code, found } = mistake
  const quoted = found === '' ? 'the end of the body' : JSON.stringify(found)
  return `The body is not valid JSON: at line ${line}, column ${column}, ${sentences[code] ?? 'found'} ${quoted}.`
}

type Mistake = { line: number; column: number; code: string; found: string }

// Finds the first mistake with a second parser. JSON.parse does not tell where it stops, and its messages repeat parts
// of the text.
function firstMistake(text: string): Mistake | null {
  let first: Mistake | null = null
  const stop = new Error('only the first mistake is described')
  const onError = (code: number, offset: number, length: number, line: number, column: number) => {
    const found = text.slice(offset, offset + Math.min(length, 20))
    first = { line: line + 1, column: column + 1, code: printParseErrorCode(code), found }
    throw stop
  }
  try {
    visit(text, { onError }, { disallowComments: true })
  } catch (error) {
    // The parser is recursive, and some thousands of levels exhaust the stack. Then the mistake is described without a
    // position.
    if (error !== stop && !(error instanceof RangeError)) throw error
  }
  return first
}

const sentences: Record<string, string> = {
  PropertyNameExpected: 'expected a member name in double quotes, found',
  ValueExpected: 'expected a value, found',
  ColonExpected: 'expected ":", found',
  CommaExpected: 'expected "," or the end of the object or array, found',
  CloseBraceExpected: 'expected "}", found',
  CloseBracketExpected: 'expected "]", found',
  EndOfFileExpected: 'expected the end of the body, found',
  InvalidSymbol: 'expected a value, a quoted name or punctuation, found',
  InvalidNumberFormat: 'found the malformed number',
  UnexpectedEndOfNumber: 'found the unfinished number',
  InvalidCommentToken: 'comments are not allowed, found',
  UnexpectedEndOfComment: 'comments are not allowed, found',
  UnexpectedEndOfString: 'found a string without end or with a line break in it:',
  InvalidCharacter: 'found a control character that is not escaped, in the string',
  InvalidUnicode: 'found a \\u without four hexadecimal digits, in the string',
  InvalidEscapeCharacter: 'found an escape that JSON does not have, in the string',
}
