import type { BlockNode, BodyNode } from '../body/document.ts'
import { isBlockType } from '../body/nodes.ts'
import { plainText } from '../body/text.ts'
import { parseDocumentUri } from './uri.ts'

/** A link to a document, or to one of its blocks: where it stands, its address and its text. */
export type DocumentLink = { source_block_id: string; target_uri: string; anchor_text: string }

/**
 * The links of a body to documents, in document order: one for each innermost block and address, with the text of the
 * first. Only lines that can hold such a link are parsed.
 */
export function documentLinks(lines: readonly string[]): DocumentLink[] {
  return lines.flatMap((line) => (line.includes('svc://doc/') ? linksIn(JSON.parse(line) as BlockNode) : []))
}

function linksIn(block: BlockNode): DocumentLink[] {
  const first = new Map<string, string>()
  let address: string | undefined
  let text = ''
  for (const node of [...(block.content ?? []), undefined]) {
    const next = node === undefined ? undefined : addressOf(node)
    if (address !== undefined && next !== address && !first.has(address)) first.set(address, text)
    text = next === address ? text : ''
    if (next !== undefined && node !== undefined) text += plainText(node)
    address = next
  }
  const own = [...first].map(([uri, anchor]) => ({
    source_block_id: block.attrs.id,
    target_uri: uri,
    anchor_text: Array.from(anchor).slice(0, longestAnchor).join(''),
  }))
  const nested = (block.content ?? []).filter((child): child is BlockNode => isBlockType(child.type))
  return [...own, ...nested.flatMap(linksIn)]
}

// As long as the anchor text of a manual relation may be.
const longestAnchor = 500

function addressOf(node: BodyNode): string | undefined {
  const href = node.marks?.find(({ type }) => type === 'link')?.attrs?.href
  return typeof href === 'string' && parseDocumentUri(href) !== null ? href : undefined
}
