import type { BlockNode } from '../../body/document.ts'
import { textComputation } from '../../body/stored-body.ts'
import { plainText } from '../../body/text.ts'
import { compute } from '../../computations/compute.ts'
import { type Coverage, sourceLimit } from '../schema.ts'
import { sectionOf } from '../section.ts'
import type { Material } from './ask.ts'

/** Material for a model, and the parts of the source that it contains. */
export type SummaryMaterial = {
  material: Material
  source_block_ids: string[]
  source_document_ids: string[]
  coverage: Coverage
}

/** A stored body with its title. `blockId` is the heading of the section to summarise, null for the whole body. */
type MaterialText = { documentId: string; blockId: string | null; version: string; title: string; text: string }

/** Material with the version of its source. */
type TextMaterial = SummaryMaterial & { version: string }

/**
 * Returns the material of a document or section; null when there is no such section. A large body is read in a thread.
 * Throws ComputationLimitError when reading the body takes too much processor time or memory.
 */
export function textMaterial(source: MaterialText): Promise<TextMaterial | null> {
  return compute(gathering, source)
}

/** Gathers the material of a document or section for a model. A thread calls this function by its name. @public */
export function gatherMaterial({ documentId, blockId, version, title, text }: MaterialText): TextMaterial | null {
  const lines = text.split('\n')
  const source = blockId === null ? { version, title, lines } : sectionOf(lines, blockId)
  if (!source) return null
  const blocks = source.lines.map((line) => JSON.parse(line) as BlockNode)
  const texts = blocks.map((block) => plainText(block)).filter((text) => text.trim() !== '')
  return {
    version: source.version,
    // An untitled section uses the title of its document, so that the model always gets a title.
    material: { kind: blockId === null ? 'document' : 'section', title: source.title || title, texts },
    source_block_ids: blocks.slice(0, sourceLimit).map(({ attrs }) => attrs.id),
    source_document_ids: [documentId],
    coverage: {
      ratio: 1,
      covered_blocks: blocks.length,
      total_blocks: blocks.length,
      covered_documents: 1,
      total_documents: 1,
      truncated: false,
    },
  }
}

const gathering = textComputation({ module: import.meta.url, run: gatherMaterial })
