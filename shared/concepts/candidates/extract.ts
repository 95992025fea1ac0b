import { createHash } from 'node:crypto'
import type { BodyNode, Mark } from '../../body/document.ts'
import { isTextblock } from '../../body/nodes.ts'
import { textComputation } from '../../body/stored-body.ts'
import { plainText } from '../../body/text.ts'
import { normaliseName } from '../normalise.ts'
import type { Extractor } from './schema.ts'

/** Counts what the extractor finds differently; part of every fingerprint. */
export const extractorVersion = '1'

/** A candidate as it stands in a document. */
export type FoundCandidate = {
  extractor: Extractor
  block_id: string | null
  name: string
  normalized_name: string
  excerpt: string
  fingerprint: string
}

/**
 * Finds the candidates of a document (decisions 2.10): its title and the text of every link that has a letter and is
 * not an address itself, each of at most 200 characters and once a block. Deterministic; `text` is the stored body, of
 * which only blocks with links are parsed.
 */
export function extractCandidates(source: { documentId: string; title: string; text: string }): FoundCandidate[] {
  const { documentId, title, text } = source
  const lines = text.split('\n').filter((line) => line.includes('"type":"link"'))
  const found: Mention[] = [
    { extractor: 'title', block_id: null, name: title, excerpt: title },
    ...lines.flatMap((line) => linksIn(JSON.parse(line) as BodyNode)),
  ]
  const candidates = found.filter(({ name }) => isTerm(name)).map((mention) => candidateOf(documentId, mention))
  const seen = new Set<string>()
  return candidates.filter(({ fingerprint }) => !seen.has(fingerprint) && seen.add(fingerprint))
}

/** `extractCandidates` for a thread. */
export const extracting = textComputation({ module: import.meta.url, run: extractCandidates })

type Mention = Pick<FoundCandidate, 'extractor' | 'block_id' | 'name' | 'excerpt'>

function isTerm(name: string): boolean {
  const length = [...name].length
  return length >= 1 && length <= 200
}

function candidateOf(documentId: string, mention: Mention): FoundCandidate {
  const normalized_name = normaliseName(mention.name)
  const parts = [documentId, mention.block_id, mention.extractor, extractorVersion, normalized_name]
  const fingerprint = `sha256:${createHash('sha256').update(JSON.stringify(parts)).digest('hex')}`
  return { ...mention, normalized_name, fingerprint }
}

function linksIn(node: BodyNode): Mention[] {
  if (!isTextblock(node.type)) return (node.content ?? []).flatMap(linksIn)
  const pieces = (node.content ?? []).map((child) => ({ child, text: plainText(child) }))
  const text = pieces.map((piece) => piece.text).join('')
  const links: Link[] = []
  let start = 0
  let last: Link | undefined
  for (const { child, text: piece } of pieces) {
    const link = linkOf(child)
    const end = start + piece.length
    if (link !== undefined && link === last?.link) last.end = end
    else if (link === undefined) last = undefined
    else {
      last = { link, href: hrefOf(child), start, end, name: '' }
      links.push(last)
    }
    // A picture inside a link is no text of it.
    if (last !== undefined && (child.type === 'text' || child.type === 'hardBreak')) last.name += piece
    start = end
  }
  return links.flatMap((found) => mentionOf(found, { text, blockId: String(node.attrs?.['id']) }))
}

/** A stretch of a textblock under one link; `link` is the mark, as text, and `name` the words under it. */
type Link = { link: string; href: string; start: number; end: number; name: string }

const isLink = ({ type }: Mark) => type === 'link'

function linkOf(node: BodyNode): string | undefined {
  const mark = node.marks?.find(isLink)
  return mark === undefined ? undefined : JSON.stringify(mark)
}

function hrefOf(node: BodyNode): string {
  return String(node.marks?.find(isLink)?.attrs?.['href'])
}

const address = /^(?:[a-z][a-z0-9+.-]*:\/\/|mailto:|tel:|www\.)\S*$/i

function mentionOf(link: Link, block: { text: string; blockId: string }): Mention[] {
  const name = collapsed(link.name)
  const isAddress = address.test(name) || name === link.href || `mailto:${name}` === link.href
  if (isAddress || !/\p{L}/u.test(name)) return []
  const { start, end } = link
  // Twice as many units hold that many code points, and more are not looked at.
  const before = Array.from(block.text.slice(Math.max(0, start - 2 * contextLength), start)).slice(-contextLength)
  const after = Array.from(block.text.slice(end, end + 2 * contextLength)).slice(0, contextLength)
  const excerpt = collapsed([...before, block.text.slice(start, end), ...after].join(''))
  return [{ extractor: 'link_anchor', block_id: block.blockId, name, excerpt }]
}

/** How many characters of the block an excerpt shows on either side of a link. */
const contextLength = 80

function collapsed(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}
