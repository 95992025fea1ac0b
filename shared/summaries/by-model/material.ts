import type { Queryable } from '../../database/database.ts'
import { type Container, documentIdsBelow } from '../container-queries.ts'
import { ratioOf, summariseDigest } from '../deterministic.ts'
import { digestedDocuments } from '../digests.ts'
import { oneLine, truncate } from '../plain.ts'
import { storedSummaries } from '../queries.ts'
import { sourceLimit } from '../schema.ts'
import { requestCharacters } from './ask.ts'
import type { SummaryMaterial } from './text-material.ts'

// So many requests are the most a summary costs; documents share the room, so that of many each says less.
const requestLimit = 40
const documentLimit = 10_000
const longestEntry = 600

/**
 * What a model is given of a folder or knowledge base: a summary of each document below it, the stored one where there is
 * one.
 */
export async function containerMaterial(
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
      return { id: document.id, text: truncate(oneLine(named), room) }
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
