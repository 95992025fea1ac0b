import { type DerivedSummary, summariseDigest } from './deterministic.ts'
import { digestOf } from './digest.ts'
import { sectionsOf } from './section.ts'

/** The text of a document, and of which of its sections, and whether of itself (null), summaries are wanted. */
export type SummarisedText = {
  documentId: string
  version: string
  title: string
  text: string
  blockIds: readonly (string | null)[]
}

/** A deterministic summary of a document (`blockId` is null) or a section, with the version of its source. */
export type TextSummary = { blockId: string | null; version: string; derived: DerivedSummary }

/** The deterministic summaries of a document and of its sections; those whose heading has gone are left out. */
export function summariseText({ documentId, version, title, text, blockIds }: SummarisedText): TextSummary[] {
  const lines = text.split('\n')
  const sections = sectionsOf(lines, new Set(blockIds.filter((id) => id !== null)))
  return blockIds.flatMap((blockId): TextSummary[] => {
    const source = blockId === null ? { title, version, lines } : sections.get(blockId)
    if (source === undefined) return []
    // An untitled section goes by the title of its document, so that no summary is empty.
    const digest = digestOf(source.lines)
    const derived = summariseDigest({ documentId, title: source.title || title, digest })
    return [{ blockId, version: source.version, derived }]
  })
}
