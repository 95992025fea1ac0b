/** The number of Unicode code points of a text, the unit of every length in the contract. */
export function codePoints(text: string): number {
  let count = text.length
  for (let index = 0; index < text.length; index++) {
    // A surrogate pair is one code point of two units.
    const isPair = isHighSurrogate(text.charCodeAt(index)) && isLowSurrogate(text.charCodeAt(index + 1))
    if (isPair) count -= 1
  }
  return count
}

function isHighSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xd800
}

function isLowSurrogate(unit: number): boolean {
  return (unit & 0xfc00) === 0xdc00
}
