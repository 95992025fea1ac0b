// Control characters, line separators, and characters that hide text or turn its direction.
const hidden = /[\p{Cc}\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

// The largest number of bytes that file systems accept for a name in UTF-8.
const maxBytes = 255

/**
 * Turns the file name that a client sent into a name that is safe to show, to download and to put into an archive. The
 * result has no folders and no control or invisible characters, and is never empty, `.` or `..`. The result has at most
 * 255 bytes; a longer name is cut before its extension. No file is stored under the name.
 */
export function harmlessFilename(sent: string): string {
  const last = sent.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  // The name is shortened first, because the time to normalise it grows with the square of its combining marks.
  const name = shortened(shortened(last.replace(hidden, '').trim()).normalize('NFC'))
  return name === '' || name === '.' || name === '..' ? 'file' : name
}

function shortened(name: string): string {
  if (Buffer.byteLength(name) <= maxBytes) return name
  const extension = /\.[A-Za-z0-9]{1,16}$/.exec(name)?.[0] ?? ''
  let stem = ''
  let bytes = Buffer.byteLength(extension)
  for (const character of name.slice(0, name.length - extension.length)) {
    bytes += Buffer.byteLength(character)
    if (bytes > maxBytes) break
    stem += character
  }
  return stem + extension
}
