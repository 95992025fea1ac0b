/** The longest name of a folder or file, in UTF-16 units, before what makes it unique is added (decisions 4.7). */
const longestName = 80

// What every file system in use takes: ext4, APFS and NTFS hold 255 bytes or units a name.
const longestFileName = 255

// Windows opens paths of up to 260 UTF-16 units, with the folder that the archive is unpacked into.
const longestPath = 240

/** Paths of directories stay this short, in UTF-16 units, so that the names of files in them need not be cut. */
export const longestDirectory = 120

/** The name of a directory for a folder: one that Windows, macOS and Linux all take as it is. */
export function directoryName(name: string): string {
  return portable(clean(name))
}

/** The file name of an attachment, with its extension even where the name has to be cut. */
export function attachmentName(filename: string): string {
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(filename)?.[0] ?? ''
  const stem = filename.slice(0, filename.length - extension.length)
  return portable(cut(clean(stem), { units: longestName - extension.length, bytes: 240 }) + extension) || '_'
}

/** `<title>--<id>.md` in a directory; `mark` tells ids apart that differ in case alone. */
export function markdownPath(document: { directory: string; title: string; id: string; mark: string }): string {
  const end = `--${document.id}${document.mark}.md`
  const bytes = longestFileName - 1 - end.length
  const units = Math.min(longestName, longestPath - document.directory.length - 2 - end.length)
  return `${document.directory}/${notReserved(cut(clean(document.title), { units, bytes }))}${end}`
}

/** Whether a directory could be taken for the file of a document, which stands beside it. */
export function looksLikeDocument(name: string): boolean {
  return /--doc_[^/]*\.md$/i.test(name)
}

/** What two names have in common that a file system holds for the same: case and Unicode normalisation do not count. */
export function sameName(name: string): string {
  return name.normalize('NFC').toUpperCase().toLowerCase()
}

/** The beginning of a text, by whole code points, of so many UTF-16 units and bytes of UTF-8 at most. */
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

// Separators and wildcards of decisions 4.7, control characters, line ends, and marks that turn the reading direction,
// with which `exe.gpj` is shown as `jpg.exe`.
const unsafe = /[/\\:*?"<>|\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu

function clean(name: string): string {
  const replaced = name.normalize('NFC').toWellFormed().replace(unsafe, '_')
  return cut(replaced, { units: longestName, bytes: 240 })
}

// Windows drops dots and spaces at the end, which makes `..` of `.. .`.
function portable(name: string): string {
  return notReserved(name.replace(/[. ]+$/, (end) => '_'.repeat(end.length)))
}

// Names of devices, also with an extension.
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)[ .]*(\.|$)/i

function notReserved(name: string): string {
  return reserved.test(name) ? `_${name}` : name
}
