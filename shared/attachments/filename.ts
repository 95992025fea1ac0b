// Controls, line separators, and what turns or hides text: a name looks the same everywhere and breaks no header.
const hidden = /[\p{Cc}\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu

/** The longest name in bytes of UTF-8: what file systems take. */
const maxBytes = 255

/**
 * The name under which a file that somebody sent may be shown, downloaded and put into an archive: without folders,
 * control and invisible characters, never empty, `.` or `..`, cut before its extension when it is too long. Nothing is
 * ever stored under it.
 */
export function harmlessFilename(sent: string): string {
  const last = sent.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  // Shortened first: to put marks in order takes time that grows with the square of their number.
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
