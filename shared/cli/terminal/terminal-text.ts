import stringWidth from 'string-width'

/** How a piece of a line looks on a terminal with colours. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'match'

/** A piece of text for a person. The text may come from anybody: whoever writes it to a terminal makes it harmless. */
export type Span = string | { text: string; style: Style }

// Everything by which a text could move the cursor, send a command to the terminal or turn the direction of letters:
// C0 and C1 controls, DEL, the marks and overrides of bidirectional text, and the two further separators of lines.
const unsafe = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\p{Cs}]/gu

const codes: Record<Style, string> = {
  bold: '1',
  dim: '2',
  red: '31',
  green: '32',
  yellow: '33',
  cyan: '36',
  match: '1;33',
}

/**
 * The text as one harmless line. Line feeds and tabs become spaces. Every other character that could command a terminal
 * is shown as an escape, such as `\u001b`.
 * @internal
 */
export function oneLine(text: string): string {
  return text.replace(/\r?\n|\t/g, ' ').replace(unsafe, escaped)
}

/** The text of a document, harmless for a terminal. Line feeds and tabs stay. */
export function manyLines(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replace(unsafe, (character) => (/[\n\t]/.test(character) ? character : escaped(character)))
}

/** JSON that is the same value for a program and harmless for a terminal. `indent` is a number of spaces. */
export function jsonText(value: unknown, indent = 0): string {
  // Line feeds stand between the members of the text only: within strings JSON has escaped them.
  return JSON.stringify(value, null, indent).replace(unsafe, (character) =>
    character === '\n' ? character : escaped(character),
  )
}

/** The spans as one harmless line, coloured if `hasColors`. */
export function painted(spans: readonly Span[], hasColors: boolean): string {
  return spans
    .map((span) => {
      if (typeof span === 'string') return oneLine(span)
      const text = oneLine(span.text)
      return hasColors && text !== '' ? `\x1b[${codes[span.style]}m${text}\x1b[0m` : text
    })
    .join('')
}

/** The number of columns that the spans take on a terminal: two for a wide letter, none for a combining mark. */
export function columnsOf(spans: readonly Span[]): number {
  return stringWidth(painted(spans, false))
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
