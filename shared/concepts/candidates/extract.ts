import { createHash } from 'node:crypto'
import type { BodyNode, Mark } from '../../body/document.ts'
import { isTextblock } from '../../body/nodes.ts'
import { textComputation } from '../../body/stored-body.ts'
import { plainText } from '../../body/text.ts'
import { cutText, cutTextBefore } from '../../schema/strings.ts'
import { normaliseName } from '../names.ts'
import type { Extractor } from './schema.ts'

/** The most code points of the block that an excerpt shows on either side of a link. */
const contextLength = 80
const address = /^(?:[a-z][a-z0-9+.-]*:\/\/|mailto:|tel:|www\.)\S*$/i

/**
 * The version of the extraction rules. The version is part of the fingerprint by which a candidate is recognised when
 * it is found again. Raise the version when the rules change.
 */
export const extractorVersion = '1'

/** A candidate as it was found in a document. */
export type FoundCandidate = {
  extractor: Extractor
  block_id: string | null
  name: string
  normalized_name: string
  excerpt: string
  fingerprint: string
}

/**
 * Finds the candidates of a document: its title and its link texts. A link text needs a letter and must not be an
 * address itself. A candidate has at most 200 characters, and a block yields it only once. The result is deterministic.
 * `text` is the stored body, of which only blocks with links are parsed.
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

/** Computes the candidates of a document, in a thread if the body is large. */
export const candidateExtraction = textComputation({ module: import.meta.url, run: extractCandidates })

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
  const children = (node.content ?? []).map((child) => ({ child, text: plainText(child) }))
  const text = children.map(({ text }) => text).join('')
  const links: Link[] = []
  let start = 0
  let last: Link | undefined
  for (const { child, text: childText } of children) {
    const link = linkOf(child)
    const end = start + childText.length
    if (link !== undefined && link === last?.link) last.end = end
    else if (link === undefined) last = undefined
    else {
      last = { link, href: hrefOf(child), start, end, name: '' }
      links.push(last)
    }
    // A picture inside a link is not part of the link text.
    if (last !== undefined && (child.type === 'text' || child.type === 'hardBreak')) last.name += childText
    start = end
  }
  return links.flatMap((found) => mentionOf(found, { text, blockId: String(node.attrs?.['id']) }))
}

/**
 * A range of a textblock under one link: `link` is the mark as JSON, `name` the text, `start` and `end` are UTF-16
 * offsets.
 */
type Link = { link: string; href: string; start: number; end: number; name: string }

const isLink = ({ type }: Mark) => type === 'link'

function linkOf(node: BodyNode): string | undefined {
  const mark = node.marks?.find(isLink)
  return mark === undefined ? undefined : JSON.stringify(mark)
}

function hrefOf(node: BodyNode): string {
  return String(node.marks?.find(isLink)?.attrs?.['href'])
}

function mentionOf(link: Link, block: { text: string; blockId: string }): Mention[] {
  const name = collapsed(link.name)
  const isAddress = address.test(name) || name === link.href || `mailto:${name}` === link.href
  if (isAddress || !/\p{L}/u.test(name)) return []
  const { start, end } = link
  const before = cutTextBefore(block.text.slice(0, start), contextLength)
  const after = cutText(block.text.slice(end), contextLength)
  const excerpt = collapsed(before + block.text.slice(start, end) + after)
  return [{ extractor: 'link_anchor', block_id: block.blockId, name, excerpt }]
}

function collapsed(text: string): string {
  return text.replace(/\s+/gu, ' ').trim()
}
