/** A part of a text, with the UTF-16 offset at which it starts there. */
export type Window = { text: string; start: number }

/** Texts up to this many UTF-16 units are looked at as a whole: some ten milliseconds of work. */
export const windowSize = 65_536

/**
 * Cuts a text into windows that stand side by side, between words wherever there is white space in the second half of a
 * window. A text without any is cut after `windowSize` units, never inside a surrogate pair. The first window can be
 * shorter, so that others end elsewhere.
 */
export function windowsOf(text: string, firstSize = windowSize): Window[] {
  const windows: Window[] = []
  let start = 0
  do {
    const end = endOfWindow(text, { start, size: start === 0 ? firstSize : windowSize })
    windows.push({ text: text.slice(start, end), start })
    start = end
  } while (start < text.length)
  return windows
}

function endOfWindow(text: string, { start, size }: { start: number; size: number }): number {
  const end = start + size
  if (end >= text.length) return text.length
  for (let index = end; index > start + size / 2; index -= 1) {
    if (whiteSpace.test(text.charAt(index - 1))) return index
  }
  return isTrailingSurrogate(text.charCodeAt(end)) ? end - 1 : end
}

const whiteSpace = /\s/

function isTrailingSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00
}
