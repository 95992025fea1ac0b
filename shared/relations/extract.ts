import type { Queryable, Transaction } from '../database/database.ts'
import { type Derived, type DocumentSource, loadSources } from '../jobs/projections/queries.ts'
import type { DocumentJob } from '../jobs/queues.ts'
import { newId } from '../schema/ids.ts'
import {
  changeInline,
  extractions,
  type InlineRelation,
  type InlineRelationChange,
  type NewInlineRelation,
  writeExtractions,
} from './extraction-queries.ts'
import { type DocumentLink, documentLinks } from './links.ts'
import { parseDocumentUri } from './uri.ts'

/** A document as the extraction sees it, with the inline relations that are there already. */
export type LinkSource = DocumentSource & {
  body: string
  projected_seq: number | null
  relations: readonly InlineRelation[]
}

/** Reads what the inline relations of documents are made from, by id; documents that are gone are left out. */
export async function loadLinkSources(
  db: Queryable,
  jobs: readonly DocumentJob[],
): Promise<ReadonlyMap<string, LinkSource>> {
  const extracted = await extractions(db, jobs)
  const sources = await loadSources(db, jobs)
  return new Map(
    [...sources].map(([id, source]) => {
      const { body_seq = null, relations = [] } = extracted.get(id) ?? {}
      return [id, { ...source, projected_seq: body_seq, relations }]
    }),
  )
}

/**
 * What makes the stored inline relations the complete set of the body's links: a link that is still in the same block
 * keeps its relation, whatever else changed (decisions 2.9).
 */
export function compareLinks(source: Pick<LinkSource, 'body' | 'relations'>): InlineRelationChange {
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

/** Writes the complete sets of documents' inline relations; the caller holds the locks. */
export async function writeRelations(
  tx: Transaction,
  derived: readonly Derived<LinkSource, InlineRelationChange>[],
): Promise<void> {
  await writeExtractions(tx, derived)
  await changeInline(tx, derived)
}

function keyOf(link: Pick<DocumentLink, 'source_block_id' | 'target_uri'>): string {
  return `${link.source_block_id} ${link.target_uri}`
}

function newRelation(link: DocumentLink): NewInlineRelation[] {
  const target = parseDocumentUri(link.target_uri)
  if (target === null) return []
  return [{ ...link, id: newId('rel'), target_document_id: target.documentId, target_block_id: target.blockId }]
}
