import fc from 'fast-check'

/**
 * Any character but halves of surrogate pairs, as the unit of a string. The unit `binary` of fast-check has the same
 * characters, but lists all million of them first, which takes more than a second of each process.
 */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map(
    (code) => String.fromCodePoint(code),
    (text) => (typeof text === 'string' && [...text].length === 1 ? text.codePointAt(0) : undefined) ?? -1,
  )
