import { posix } from 'node:path'
import { directoryOf, inDirectory } from './paths.ts'

/*
 * A link between two synced documents is `svc://doc/{id}` in the service and a relative path in a file. So both lead to
 * the same document, in the service as well as in every program for Markdown. Texts are translated where they are read
 * from files and written to files. Everything between, and all that is kept, has the form of the service.
 */

/** The document that each relative address of a file means, as the last sync has written the file. */
export type FileLinks = Readonly<Record<string, string>>

/** Where documents have their files in this round. */
export type LinkPlaces = {
  /** The document of the file at a path, now or else at the last sync. */
  idAt: (path: string) => string | undefined
  /** The path that the file of a document has at the end of the round. */
  pathOf: (id: string) => string | undefined
}

/** A file whose links are read: its path now, its path at the last sync, and what its links meant then. */
export type LinkingFile = { path: string; before: string; links: FileLinks }

/**
 * The text of a file with its links to synced files as links of the service. An address that the last sync has written
 * means the document that it meant then, even if the file of the document is elsewhere now. If that document is gone,
 * the file at the address counts. Images, other addresses, and addresses with a fragment that names no block stay as
 * they are.
 */
export async function linksToService(text: string, file: LinkingFile, { idAt, pathOf }: LinkPlaces): Promise<string> {
  if (!text.includes('](') && !text.includes(']:')) return text
  return rewritten(text, (url) => {
    const [, encoded = '', block = ''] = relativeAddress.exec(url) ?? []
    if (encoded === '') return undefined
    const address = decodedPath(encoded)
    const known = Object.hasOwn(file.links, address) ? file.links[address] : undefined
    const kept = known !== undefined && pathOf(known) !== undefined ? known : undefined
    const id = kept ?? idOfAddress(address, file.path, idAt) ?? idOfAddress(address, file.before, idAt) ?? known
    return id && `svc://doc/${id}${block}`
  })
}

/** A file to write: its path, and the text that it has now, if there is one. */
export type WrittenFile = { path: string; present?: string }

/**
 * The text of a file, made of a text with links of the service: links to synced documents become relative paths. A link
 * keeps the spelling of its author, if an address of the present text leads to the document from the new path. Returns
 * the text and its links.
 */
export async function linksToFile(
  text: string,
  { path, present = '' }: WrittenFile,
  { pathOf }: LinkPlaces,
): Promise<{ text: string; links: FileLinks }> {
  const links: Record<string, string> = {}
  if (!text.includes('svc://doc/')) return { text, links }
  const spellings = await spellingsIn(present, path)
  const translated = await rewritten(text, (url) => {
    const [, id = '', block = ''] = documentAddress.exec(url) ?? []
    const target = id === '' ? undefined : pathOf(id)
    if (target === undefined) return undefined
    const own = spellings.get(target.normalize() + block)?.shift()
    const address = own?.address ?? decodedPath(addressFrom(path, target))
    links[address] = id
    return own?.written ?? addressFrom(path, target) + block
  })
  return { text: translated, links }
}

/**
 * True if a link of a file has to be written anew. Its document's file or the file itself has moved, or another
 * document has taken the place of its document.
 */
export function isOutdated(links: FileLinks, path: string, { idAt, pathOf }: LinkPlaces): boolean {
  return Object.entries(links).some(([address, id]) => {
    const target = pathOf(id)
    if (target === undefined) return idOfAddress(address, path, idAt) !== undefined
    return !leadsTo(address, path, target.normalize())
  })
}

// The address of a link without its block, and how it is written in the text, with angle brackets if there are some.
type Spelling = { address: string; written: string }

// How a text spells its addresses, in their order, by the path and block to which they lead from the path of a file.
// An address that would not be read alike in a table or a definition is left out.
async function spellingsIn(text: string, path: string): Promise<Map<string, Spelling[]>> {
  const found = new Map<string, Spelling[]>()
  await rewritten(text, (url, written) => {
    const [, encoded = '', block = ''] = relativeAddress.exec(url) ?? []
    if (encoded === '' || !/^(<[^|\\&<>\n]+>|([^|\\&<>\s()]|\([^|\\&<>\s()]*\))+)$/.test(written)) return undefined
    const address = decodedPath(encoded)
    const plain = pathOfAddress(address, path).normalize()
    const key = (/\.(md|markdown)$/i.test(plain) ? plain : `${plain}.md`) + block
    const others = found.get(key)
    if (others === undefined) found.set(key, [{ address, written }])
    else others.push({ address, written })
    return undefined
  })
  return found
}

// True if an address in a file leads to another file, whose path is normalized.
function leadsTo(address: string, from: string, target: string): boolean {
  const path = pathOfAddress(address, from).normalize()
  return path === target || `${path}.md` === target
}

// The links of longer texts, and of texts with more brackets, stay as they are. In the worst case, parsing takes the
// square of the number of brackets, which is about a second here.
const mostCharacters = 1024 * 1024
const mostBrackets = 5000

const blockId = 'block_[0-9A-HJKMNP-TV-Z]{26}'
const documentAddress = new RegExp(`^svc://doc/(doc_[A-Za-z0-9_-]{1,64})(#block=${blockId})?$`)
// An address without a scheme and host, in two parts: the path, and the block.
const relativeAddress = new RegExp(`^(?![A-Za-z][A-Za-z0-9+.-]*:|//)([^#?]+)(#block=${blockId})?$`)

async function rewritten(
  text: string,
  replacement: (url: string, written: string) => string | undefined,
): Promise<string> {
  if (text.length > mostCharacters || text.split('[', mostBrackets + 2).length > mostBrackets + 1) return text
  // The parser takes a tenth of a second to load, and most rounds need no parser.
  const { parseMarkdown, replaceDestinations } = await import('../../import/destinations.ts')
  let destinations: ReturnType<typeof parseMarkdown>['destinations']
  try {
    ;({ destinations } = parseMarkdown(text))
  } catch (error) {
    // Quotes within thousands of quotes are deeper than the parser can go.
    if (error instanceof RangeError) return text
    throw error
  }
  return replaceDestinations(text, destinations, ({ kind, url, start, end }) =>
    kind === 'image' ? undefined : replacement(url, text.slice(start, end)),
  )
}

// A leading slash means the folder of the sync, and the ending `.md` may be left out.
function idOfAddress(address: string, from: string, idAt: LinkPlaces['idAt']): string | undefined {
  const path = pathOfAddress(address, from)
  return idAt(path) ?? idAt(`${path}.md`)
}

function pathOfAddress(address: string, from: string): string {
  return posix.normalize(address.startsWith('/') ? address.slice(1) : inDirectory(directoryOf(from), address))
}

function addressFrom(from: string, to: string): string {
  const relative = posix.relative(directoryOf(from), to)
  const encoded = relative.replace(/[\s%#?&()<>[\]"'`*_\\|~$!{}^]/g, (character) => {
    const bytes = [...new TextEncoder().encode(character)]
    return bytes.map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
  })
  return /^[^/]*:/.test(encoded) ? `./${encoded}` : encoded
}

function decodedPath(address: string): string {
  try {
    return decodeURIComponent(address)
  } catch {
    return address
  }
}
