import { posix } from 'node:path'
import { addressBetween } from '../../export/names.ts'
import type { Destination } from '../../import/destinations.ts'
import { directoryOf, inDirectory } from './paths.ts'

/*
 * A link between two synced documents is `svc://doc/{id}` in the service and a relative path in a file. So both lead to
 * the same document, in the service as well as in every program for Markdown. Texts are translated where they are read
 * from files and written to files. Everything between, and all that is kept, has the form of the service.
 */

/**
 * What the relative addresses of a file mean, as the last sync has written the file. `links` has the document of each
 * decoded path. `headings` has the link of the service for each address that names a heading or another block. It is
 * empty while the document has no such heading.
 */
export type FileLinks = { links: Readonly<Record<string, string>>; headings: Readonly<Record<string, string>> }

/** The links of a file that the last sync does not know. */
export const noLinks: FileLinks = { links: {}, headings: {} }

/** Where documents have their files in this round. */
export type LinkPlaces = {
  /** The document of the file at a path, now or else at the last sync. */
  idAt: (path: string) => string | undefined
  /** The path that the file of a document has at the end of the round. */
  pathOf: (id: string) => string | undefined
  /** The blocks of the headings that a document had at the last sync, by their slugs. */
  headingsOf: (id: string) => ReadonlyMap<string, string>
}

/** A file whose links are read: its path now, its path at the last sync, and what its links meant then. */
export type LinkingFile = FileLinks & { path: string; before: string }

/**
 * The text of a file with its links to synced files as links of the service. An address that the last sync has written
 * means the document that it meant then, even if the file of the document is elsewhere now. If that document is gone,
 * the file at the address counts. The slug of a heading becomes the id of its block. Images, other addresses, and
 * addresses with a fragment that names neither a block nor a heading stay as they are.
 */
export async function linksToService(written: string, file: LinkingFile, places: LinkPlaces): Promise<string> {
  const text = withExportedAddresses(written)
  const { idAt, pathOf } = places
  const isFile = ({ address }: Relative) =>
    (idOfAddress(address, file.path, idAt) ?? idOfAddress(address, file.before, idAt)) !== undefined
  const hasKnown = Object.keys(file.links).length + Object.keys(file.headings).length > 0
  if (!mayName(text, (relative) => hasKnown || isFile(relative))) return text
  return rewritten(text, (url) => {
    const relative = relativeOf(url)
    if (relative === null) return undefined
    const { address, block, slug } = relative
    const known = Object.hasOwn(file.links, address) ? file.links[address] : undefined
    const kept = known !== undefined && pathOf(known) !== undefined ? known : undefined
    const id = kept ?? idOfAddress(address, file.path, idAt) ?? idOfAddress(address, file.before, idAt) ?? known
    if (id === undefined || slug === undefined) return id && `svc://doc/${id}${block}`
    return linkToHeading(id, slug, { known: file.headings[url], places })
  })
}

/**
 * A file to write: its path, and the text that it has now, if there is one. `mayWait` says that its addresses may
 * become links later, when the headings are there that they name.
 */
export type WrittenFile = { path: string; present?: string; mayWait?: boolean }

/**
 * The text of a file, made of a text with links of the service. Links to synced documents become relative paths, and
 * blocks of headings become slugs, which other programs know. A link keeps the spelling of its author, if an address of
 * the present text leads there from the new path. Returns the text and its links.
 */
export async function linksToFile(
  text: string,
  { path, present = '', mayWait = false }: WrittenFile,
  places: LinkPlaces,
): Promise<FileLinks & { text: string }> {
  const links: Record<string, string> = {}
  const headings: Record<string, string> = {}
  const isWaiting = mayWait && mayName(text, ({ slug }) => slug !== undefined)
  if (!isWaiting && !text.includes('svc://doc/')) return { text, links, headings }
  const spellings = await spellingsIn(present, path)
  const translated = await rewritten(text, (url) => {
    const [, id = '', block = ''] = documentAddress.exec(url) ?? []
    const target = id === '' ? undefined : places.pathOf(id)
    if (target === undefined) {
      if (isWaiting && relativeOf(url)?.slug !== undefined) headings[url] = ''
      return undefined
    }
    const fragment = slugOf(block, places.headingsOf(id)) ?? block
    const address = addressBetween(path, target)
    const generated = { address: decodedPath(address), url: address + fragment, written: address + fragment }
    const spelling = spellings.get(target.normalize() + fragment)?.shift() ?? generated
    links[spelling.address] = id
    if (block !== '') headings[spelling.url] = url
    return spelling.written
  })
  return { text: translated, links, headings }
}

/**
 * True if a link of a file has to be written anew. Its document's file or the file itself has moved, or another
 * document has taken the place of its document. Or the heading that it names is not called so any more.
 */
export function isOutdated(file: FileLinks, path: string, places: LinkPlaces): boolean {
  const { idAt, pathOf } = places
  const isElsewhere = Object.entries(file.links).some(([address, id]) => {
    const target = pathOf(id)
    if (target === undefined) return idOfAddress(address, path, idAt) !== undefined
    return !leadsTo(address, path, target.normalize())
  })
  return isElsewhere || namesOtherHeading(file, path, places)
}

/** True if an address of a file names a heading that has another name by now, or a heading that has been added. */
export function namesOtherHeading({ headings }: FileLinks, path: string, places: LinkPlaces): boolean {
  return Object.entries(headings).some(([url, known]) => {
    const { address = '', slug = '' } = relativeOf(url) ?? {}
    const [, linked, block = ''] = documentAddress.exec(known) ?? []
    const id = linked ?? idOfAddress(address, path, places.idAt)
    if (id === undefined || places.pathOf(id) === undefined) return false
    const there = slugOf(block, places.headingsOf(id))
    const meant = linkToHeading(id, slug, { known, places })
    return there === undefined ? meant !== undefined && meant !== known : there !== `#${slug}`
  })
}

// The link of the service to a heading. What the address meant at the last sync counts while that is a heading, or
// while no other heading has the slug.
function linkToHeading(
  id: string,
  slug: string,
  { known = '', places }: { known: string | undefined; places: LinkPlaces },
): string | undefined {
  const headings = places.headingsOf(id)
  const [, linked, block = ''] = documentAddress.exec(known) ?? []
  const found = headings.get(slug)
  if (linked === id && (found === undefined || slugOf(block, headings) !== undefined)) return known
  return found && `svc://doc/${id}#block=${found}`
}

// The fragment of a file that names the block of a heading; undefined if the block is no heading.
function slugOf(block: string, headings: ReadonlyMap<string, string>): string | undefined {
  if (block === '') return undefined
  for (const [slug, id] of headings) if (block === `#block=${id}`) return `#${slug}`
  return undefined
}

// An address without a scheme and host: its decoded path, and its fragment, which names a block or a heading.
type Relative = { address: string; block: string; slug?: string }

// Null for an address that is not relative.
function relativeOf(url: string): Relative | null {
  const [, encoded, fragment = ''] = relativeAddress.exec(url) ?? []
  if (encoded === undefined) return null
  const address = decodedPath(encoded)
  if (fragment === '' || namedBlock.test(fragment)) return { address, block: fragment }
  return { address, block: '', slug: decodedPath(fragment.slice(1)).toLowerCase() }
}

// What may be an address: behind the brackets of a link or definition. Marks of a quote may stand between.
const destination = /\](?:\(|:)(?=[ \t\r\n>]*(?:<([^<>\n]*)>|([^ \t\r\n]{1,2000})))/g
const mostBare = 2000
const mostEnds = 20

/**
 * False if the test fails for each relative address of a text. This takes far less time than the parser, and most texts
 * link to no file. True also if a text only seems to have such an address, or if an address has escapes.
 */
function mayName(text: string, test: (relative: Relative) => boolean): boolean {
  if (isTooLarge(text)) return false
  for (const [, inBrackets, bare = ''] of text.matchAll(destination)) {
    const written = inBrackets ?? bare
    if (notRelative.test(written)) continue
    // A bare address ends at one of its closing parentheses, or with the word.
    const ends = inBrackets === undefined ? [...written.matchAll(/\)/g)].map(({ index }) => index) : []
    if (/[\\&]|^</.test(written) || bare.length === mostBare || ends.length > mostEnds) return true
    for (const end of [...ends, written.length]) {
      const relative = relativeOf(written.slice(0, end))
      if (relative !== null && test(relative)) return true
    }
  }
  return false
}

// An address in a text. `address` has no fragment, `url` is what the parser reads, and `written` has the angle brackets
// of the text, if there are some.
type Spelling = { address: string; url: string; written: string }

// How a text spells its addresses, in their order, by the path and fragment to which they lead from the path of a file.
// An address that would not be read alike in a table or a definition is left out.
async function spellingsIn(text: string, path: string): Promise<Map<string, Spelling[]>> {
  const found = new Map<string, Spelling[]>()
  await rewritten(text, (url, written) => {
    const relative = relativeOf(url)
    if (relative === null || !/^(<[^|\\&<>\n]+>|([^|\\&<>\s()]|\([^|\\&<>\s()]*\))+)$/.test(written)) return undefined
    const { address, block, slug } = relative
    const plain = pathOfAddress(address, path).normalize()
    const fragment = slug === undefined ? block : `#${slug}`
    const key = (/\.(md|markdown)$/i.test(plain) ? plain : `${plain}.md`) + fragment
    const others = found.get(key)
    if (others === undefined) found.set(key, [{ address, url, written }])
    else others.push({ address, url, written })
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

function isTooLarge(text: string): boolean {
  return text.length > mostCharacters || text.split('[', mostBrackets + 2).length > mostBrackets + 1
}

const blockId = 'block_[0-9A-HJKMNP-TV-Z]{26}'
const documentAddress = new RegExp(`^svc://doc/(doc_[A-Za-z0-9_-]{1,64})(#block=${blockId})?$`)
const namedBlock = new RegExp(`^#block=${blockId}$`)
const notRelative = /^(?:[A-Za-z][A-Za-z0-9+.-]*:|\/\/|[#?])/
// An address without a scheme and host, in two parts: the path, and the fragment.
const relativeAddress = new RegExp(`(?!${notRelative.source})^([^#?]+)(#.+)?$`)

async function rewritten(
  text: string,
  replacement: (url: string, written: string) => string | undefined,
): Promise<string> {
  if (isTooLarge(text)) return text
  // The parser takes a tenth of a second to load, and most rounds need no parser.
  const { parseMarkdown, replaceDestinations } = await import('../../import/destinations.ts')
  try {
    const destinations = parsed.get(text) ?? parseMarkdown(text).destinations
    parsed.set(text, destinations)
    for (const oldest of parsed.keys()) if (parsed.size > mostParsed) parsed.delete(oldest)
    return replaceDestinations(text, destinations, ({ kind, url, start, end }) =>
      kind === 'image' ? undefined : replacement(url, text.slice(start, end)),
    )
  } catch (error) {
    // Quotes within thousands of quotes are deeper than the parser can go.
    if (error instanceof RangeError) return text
    throw error
  }
}

// The addresses of the texts that were parsed last, since a file is read and written in one action.
const parsed = new Map<string, readonly Destination[]>()
const mostParsed = 12

// A leading slash means the folder of the sync, and the ending `.md` may be left out.
function idOfAddress(address: string, from: string, idAt: LinkPlaces['idAt']): string | undefined {
  const path = pathOfAddress(address, from)
  return idAt(path) ?? idAt(`${path}.md`)
}

function pathOfAddress(address: string, from: string): string {
  return posix.normalize(address.startsWith('/') ? address.slice(1) : inDirectory(directoryOf(from), address))
}

// The Markdown of an export names the files of attachments by their paths in the archive, and so does its raw HTML with
// documents. The ids in these paths tell what they mean, wherever the folder is.
function withExportedAddresses(text: string): string {
  return text
    .replace(/(?:\.\.\/){1,100}attachments\/(att_[0-9A-Z]{26})\/[^\s"'()<>]{1,300}/g, '/api/v1/attachments/$1')
    .replace(/( href=")[^"\n]{0,1000}--(doc_[A-Za-z0-9_-]{1,64})(?:~\d)?\.md(?=["#])/g, '$1svc://doc/$2')
}

function decodedPath(address: string): string {
  try {
    return decodeURIComponent(address)
  } catch {
    return address
  }
}
