import type { Digest } from './digests.ts'
import { oneLine, truncate } from './plain.ts'
import { type Coverage, sourceLimit, textLimits } from './schema.ts'

/** A text derived from a source, and the parts of the source that it was derived from. */
export type DerivedSummary = {
  text: string
  source_block_ids: string[]
  source_document_ids: string[]
  coverage: Coverage
}

/**
 * Summarises a document by its title, its headings and its first paragraph. A section counts as a document titled by
 * its heading.
 */
export function summariseDigest(input: { documentId: string; title: string; digest: Digest }): DerivedSummary {
  const { documentId, title, digest } = input
  const { headings, opening, block_count } = digest
  // The first heading of a section is left out when it equals the title, because a section begins with its own heading.
  const outline = headings.filter(({ text }, index) => index > 0 || text !== title)
  const parts = [oneLine(title), outline.map(({ text }) => text).join('\n'), opening?.text ?? '']
  const text = truncate(parts.filter((part) => part !== '').join('\n\n'), textLimits.deterministic)
  const blockIds = [...headings, ...(opening === null ? [] : [opening])].map(({ block_id }) => block_id)
  return {
    text,
    source_block_ids: blockIds,
    source_document_ids: [documentId],
    coverage: {
      ratio: ratioOf(blockIds.length, block_count),
      covered_blocks: blockIds.length,
      total_blocks: block_count,
      covered_documents: 1,
      total_documents: 1,
      truncated: digest.truncated,
    },
  }
}

/** A child of a folder or knowledge base: a document with its digest, or a folder with the titles of its children. */
export type SummarisedChild =
  | { type: 'document'; id: string; label: string; digest: Digest }
  | { type: 'folder'; label: string; titles: readonly string[] }

/** The most children that a summary names. */
export const childLimit = 50

// The lengths of a child's excerpt and label, in code points.
const excerptLength = 160
const labelLength = 80
// The shortest excerpt in code points; a shorter excerpt says nothing.
const leastExcerpt = 20

/**
 * Summarises a folder or knowledge base by its name and a line for each of its first children. The lines share the
 * length that the name leaves.
 */
export function summariseChildren(input: {
  name: string
  /** The first children in the order of the tree. One more than `childLimit` says that there are more. */
  children: readonly SummarisedChild[]
  documentCount: number
}): DerivedSummary {
  const name = truncate(oneLine(input.name), labelLength * 3)
  const children = input.children.slice(0, childLimit)
  const room = Math.floor((textLimits.deterministic - name.length - 2) / Math.max(1, children.length)) - 1
  const lines = children.map((child) => childLine(child, room)).join('\n')
  const documents = children.filter((child) => child.type === 'document')
  const openings = documents.flatMap(({ digest }) => (digest.opening === null ? [] : [digest.opening.block_id]))
  return {
    text: truncate(lines === '' ? name : `${name}\n\n${lines}`, textLimits.deterministic),
    source_block_ids: openings.slice(0, sourceLimit),
    source_document_ids: documents.map(({ id }) => id).slice(0, sourceLimit),
    coverage: {
      ratio: ratioOf(documents.length, input.documentCount),
      covered_blocks: openings.length,
      total_blocks: documents.reduce((sum, { digest }) => sum + digest.block_count, 0),
      covered_documents: documents.length,
      total_documents: input.documentCount,
      truncated: input.children.length > childLimit,
    },
  }
}

function childLine(child: SummarisedChild, room: number): string {
  const label = truncate(oneLine(child.label), Math.min(labelLength, room))
  const excerpt = child.type === 'folder' ? child.titles.map(oneLine).join(', ') : (child.digest.opening?.text ?? '')
  const left = Math.min(excerptLength, room - Array.from(label).length - 2)
  return excerpt === '' || left < leastExcerpt ? label : `${label}: ${truncate(excerpt, left)}`
}

/** Returns a share from 0 to 1, rounded to four digits; the share of nothing is 1. */
export function ratioOf(covered: number, total: number): number {
  return total === 0 ? 1 : Math.min(1, Math.round((covered / total) * 10_000) / 10_000)
}
