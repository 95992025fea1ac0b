import type { Queryable, Transaction } from '../database.ts'
import { newId } from '../ids.ts'
import { type DocumentSource, loadSource } from '../projections/queries.ts'
import type { DocumentJob } from '../queues.ts'
import * as queries from './extraction-queries.ts'
import { type DocumentLink, documentLinks } from './links.ts'
import { parseDocumentUri } from './uri.ts'

/** A document as the extraction sees it, with the inline relations that are there already. */
export type ExtractionSource = DocumentSource & {
  body: string
  projected_seq: number | null
  relations: readonly queries.InlineRelation[]
}

/** Reads what the inline relations of a document are made from; null when the document is gone. */
export async function loadExtractionSource(db: Queryable, job: DocumentJob): Promise<ExtractionSource | null> {
  const extracted = await queries.extraction(db, job)
  const source = await loadSource(db, job)
  return source && { ...source, projected_seq: extracted?.body_seq ?? null, relations: extracted?.relations ?? [] }
}

/**
 * What makes the stored inline relations the complete set of the body's links: a link that is still in the same block
 * keeps its relation, whatever else changed (decisions 2.9).
 */
export function compareLinks(source: Pick<ExtractionSource, 'body' | 'relations'>): queries.InlineChange {
  const links = new Map(documentLinks(source.body.split('\n')).map((link) => [keyOf(link), link]))
  const stored = new Map(source.relations.map((relation) => [keyOf(relation), relation]))
  const anchors = source.relations.flatMap((relation) => {
    const anchor_text = links.get(keyOf(relation))?.anchor_text
    return anchor_text === undefined || anchor_text === relation.anchor_text ? [] : [{ id: relation.id, anchor_text }]
  })
  return {
    remove: source.relations.filter((relation) => !links.has(keyOf(relation))).map(({ id }) => id),
    add: [...links].filter(([key]) => !stored.has(key)).flatMap(([, link]) => newRelation(link)),
    reword: anchors,
  }
}

/** Writes the complete set of a document's inline relations; the caller holds the locks. */
export async function writeRelations(
  tx: Transaction,
  job: DocumentJob,
  derived: { source: ExtractionSource; result: queries.InlineChange },
): Promise<void> {
  await queries.writeExtraction(tx, job, derived.source)
  await queries.changeInline(tx, job, derived.result)
}

function keyOf(link: Pick<DocumentLink, 'source_block_id' | 'target_uri'>): string {
  return `${link.source_block_id} ${link.target_uri}`
}

function newRelation(link: DocumentLink): queries.NewInlineRelation[] {
  const target = parseDocumentUri(link.target_uri)
  if (target === null) return []
  return [{ ...link, id: newId('rel'), target_document_id: target.documentId, target_block_id: target.blockId }]
}
