import type { BlockNode } from '../../body/document.ts'
import { plainText } from '../../body/text.ts'
import type { Queryable } from '../../database/database.ts'
import { type Container, documentIdsBelow } from '../container-queries.ts'
import { ratioOf, summariseDigest } from '../deterministic.ts'
import { digestedDocuments } from '../digests.ts'
import { cut, oneLine } from '../plain.ts'
import { storedSummaries } from '../queries.ts'
import { type Coverage, sourceLimit } from '../schema.ts'
import type { Source } from '../source.ts'
import type { Target } from '../target.ts'
import { type Material, requestCharacters } from './ask.ts'

/** Material with what of the source is in it. */
export type SummaryMaterial = {
  material: Material
  source_block_ids: string[]
  source_document_ids: string[]
  coverage: Coverage
}

/**
 * What a model is given of a source: the text of a document or section; of a folder or knowledge base a summary of each
 * document below it, the stored one where there is one.
 */
export async function materialOf(db: Queryable, input: { target: Target; source: Source }): Promise<SummaryMaterial> {
  const { target, source } = input
  if (!('lines' in source)) return containerMaterial(db, { container: target as Container, title: source.title })
  const blocks = source.lines.map((line) => JSON.parse(line) as BlockNode)
  const texts = blocks.map((block) => plainText(block)).filter((text) => text.trim() !== '')
  return {
    material: { kind: target.type, title: source.title, texts },
    source_block_ids: blocks.slice(0, sourceLimit).map(({ attrs }) => attrs.id),
    source_document_ids: [String(target.id)],
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

// So many requests are the most a summary costs; documents share the room, so that of many each says less.
const requestLimit = 40
const documentLimit = 10_000
const longestEntry = 600

async function containerMaterial(
  db: Queryable,
  { container, title }: { container: Container; title: string },
): Promise<SummaryMaterial> {
  const { workspaceId } = container
  const below = await documentIdsBelow(db, { container, limit: documentLimit + 1 })
  const ids = below.slice(0, documentLimit)
  const documents = await digestedDocuments(db, { workspaceIds: [workspaceId], ids })
  const stored = await storedSummaries(db, { workspaceIds: [workspaceId], type: 'document', ids })
  const texts = new Map(stored.map(({ target_id, text }) => [target_id, text]))
  const room = Math.min(
    longestEntry,
    Math.floor((requestLimit * requestCharacters) / Math.max(1, documents.length)) - 1,
  )
  const entries = [...documents]
    .sort((a, b) => (a.title < b.title ? -1 : a.title > b.title ? 1 : a.id < b.id ? -1 : 1))
    .map((document) => {
      const text = texts.get(document.id) ?? summariseDigest({ ...document, documentId: document.id }).text
      const named = text.startsWith(document.title) ? text : `${document.title}: ${text}`
      return { id: document.id, text: cut(oneLine(named), room) }
    })
  return {
    material: { kind: container.type, title, texts: entries.map(({ text }) => text) },
    source_block_ids: [],
    source_document_ids: entries.slice(0, sourceLimit).map(({ id }) => id),
    coverage: {
      ratio: ratioOf(entries.length, below.length),
      covered_blocks: 0,
      total_blocks: 0,
      covered_documents: entries.length,
      total_documents: Math.max(entries.length, below.length),
      truncated: below.length > documentLimit,
    },
  }
}
