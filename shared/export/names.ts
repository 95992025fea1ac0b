import { posix } from 'node:path'

// The longest name of a folder or file, in UTF-16 units, before an id makes it unique.
const longestName = 80

// The most bytes of a name that every file system takes. ext4 and APFS take 255 bytes, NTFS takes 255 UTF-16 units.
const longestFileName = 255

// The longest path in the archive, in UTF-16 units. Windows opens paths of up to 260 units, and some of these are
// needed by the folder into which the archive is unpacked.
const longestPath = 240

/**
 * The longest path of a directory, in UTF-16 units. Below a directory of this length there is room for the names of
 * files.
 */
export const longestDirectory = 120

// Characters that become `_`: separators, wildcards, control characters, line ends, and marks that turn the reading
// direction. With such a mark, `exe.gpj` would be shown as `jpg.exe`.
const unsafe = /[/\\:*?"<>|\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

// Names of devices of Windows, also with an extension. Windows makes no file of such a name.
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)[ .]*(\.|$)/i

/** Returns the name of a folder's directory. Windows, macOS and Linux all accept the name as it is. */
export function directoryName(name: string): string {
  return portable(clean(name))
}

/** Returns the file name of an attachment. A name that is cut keeps its extension. */
export function attachmentName(filename: string): string {
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(filename)?.[0] ?? ''
  const stem = filename.slice(0, filename.length - extension.length)
  return portable(cut(clean(stem), { units: longestName - extension.length, bytes: 240 }) + extension) || '_'
}

/** Returns `<directory>/<title>--<id><mark>.md`. The `mark` distinguishes ids that differ only in case. */
export function markdownPath(document: { directory: string; title: string; id: string; mark: string }): string {
  const end = `--${document.id}${document.mark}.md`
  const bytes = longestFileName - 1 - end.length
  const units = Math.min(longestName, longestPath - document.directory.length - 2 - end.length)
  return `${document.directory}/${notReserved(cut(clean(document.title), { units, bytes }))}${end}`
}

/** Tells whether the name of a directory looks like the name of a document's file, which could be beside it. */
export function looksLikeDocument(name: string): boolean {
  return /--doc_[^/]*\.md$/i.test(name)
}

/** Returns the relative address in a file that leads to another file. Both paths are relative to the same directory. */
export function addressBetween(from: string, to: string): string {
  const encoded = posix.relative(posix.dirname(from), to).replace(/[\s%#?&()<>[\]"'`*\\|~$!{}^]/g, (character) => {
    const bytes = [...new TextEncoder().encode(character)]
    return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
  })
  return /^[^/]*:/.test(encoded) ? `./${encoded}` : encoded
}

/** Cuts a text after a whole code point, so that it has at most `units` UTF-16 units and `bytes` bytes of UTF-8. */
export function cut(text: string, limits: { units: number; bytes: number }): string {
  let result = ''
  let bytes = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (result.length + character.length > limits.units || bytes > limits.bytes) break
    result += character
  }
  return result
}

function clean(name: string): string {
  const replaced = name.normalize('NFC').toWellFormed().replace(unsafe, '_')
  return cut(replaced, { units: longestName, bytes: 240 })
}

// Windows drops dots and spaces at the end of a name, and so would read `.. .` as `..`. Therefore each dot or space at
// the end becomes `_`.
function portable(name: string): string {
  return notReserved(name.replace(/[. ]+$/, (end) => '_'.repeat(end.length)))
}

function notReserved(name: string): string {
  return reserved.test(name) ? `_${name}` : name
}
