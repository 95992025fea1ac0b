import Type, { type Static } from 'typebox'
import type { BlockNode, BodyNode } from '../body/document.ts'
import { isBlockType } from '../body/nodes.ts'
import { plainText } from '../body/text.ts'
import { prepared, type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { type ProjectionInput, projectionComputation } from '../jobs/projections/computation.ts'
import { type Derived, type DocumentSource, documentKeys, loadSources } from '../jobs/projections/queries.ts'
import type { DocumentJob } from '../jobs/queues.ts'
import { newId } from '../schema/ids.ts'
import { parseDocumentUri } from './schema.ts'

// The longest anchor text of an inline relation, in code points. The limit is the same as for a manual relation.
const longestAnchor = 500

/**
 * A document with its stored inline relations, as the extraction reads it. `projected_seq` is the `body_seq` of the
 * last extraction, null without one.
 */
export type LinkSource = DocumentSource & {
  body: string
  projected_seq: number | null
  relations: readonly InlineRelation[]
}

/** Reads the sources of the inline relations of documents, by id. Missing documents are left out. */
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

/** Computes the changes of the inline relations of one document. A thread calls this function by its name. @public */
export function linkDocument({ source }: ProjectionInput<LinkSource>): InlineRelationChange {
  return compareLinks(source)
}

/** Computes the changes of the inline relations of a document. */
export const linking = projectionComputation({
  module: import.meta.url,
  run: linkDocument,
  length: ({ body }) => body.length,
})

/**
 * Compares the links of a body with the stored inline relations and returns the difference. A link that is still in the
 * same block keeps its relation, whatever else changed. @internal
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

/**
 * Writes the changes of the inline relations of documents, and notes the bodies from which the relations follow. The
 * caller has locked the documents and their extractions.
 */
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

/** A link to a document or to one of its blocks: the block that contains it, its address and its text. */
type DocumentLink = { source_block_id: string; target_uri: string; anchor_text: string }

// Returns the links of a body to documents, in document order. Each innermost block has one link for each address, with
// the text of the first link to the address. Only lines that may contain such a link are parsed.
function documentLinks(lines: readonly string[]): DocumentLink[] {
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

function addressOf(node: BodyNode): string | undefined {
  const href = node.marks?.find(({ type }) => type === 'link')?.attrs?.href
  return typeof href === 'string' && parseDocumentUri(href) !== null ? href : undefined
}

const InlineShape = Type.Object({
  id: Type.String(),
  source_block_id: Type.String(),
  target_uri: Type.String(),
  anchor_text: Type.String(),
})

/** A stored inline relation. */
type InlineRelation = Static<typeof InlineShape>

const Extraction = Type.Object({ body_seq: Type.Number(), relations: Type.Array(InlineShape) })
const KeyedExtraction = row(Type.Object({ document_id: Type.String(), ...Extraction.properties }))

/**
 * Returns the inline relations of documents and the `body_seq` of their extraction, by document id. A document that was
 * never extracted is left out. @internal
 */
export async function extractions(
  db: Queryable,
  jobs: readonly DocumentJob[],
): Promise<ReadonlyMap<string, Static<typeof Extraction>>> {
  const found = await db.any(
    prepared(sql.type(KeyedExtraction)`
    SELECT e.document_id, e.body_seq, coalesce(
      (SELECT jsonb_agg(jsonb_build_object('id', r.id, 'source_block_id', r.source_block_id,
         'target_uri', r.target_uri, 'anchor_text', r.anchor_text))
       FROM relations r WHERE r.workspace_id = e.workspace_id AND r.inline_source_id = e.document_id), '[]') AS relations
    FROM ${documentKeys(jobs)} AS k (workspace_id, document_id)
    JOIN relation_extractions e ON e.workspace_id = k.workspace_id AND e.document_id = k.document_id`),
  )
  return new Map(found.map(({ document_id, ...extraction }) => [document_id, extraction]))
}

// Notes the version and `body_seq` of the bodies from which the inline relations follow.
async function writeExtractions(
  tx: Transaction,
  extracted: readonly { job: DocumentJob; source: { version: string; body_seq: number } }[],
): Promise<void> {
  const rows = extracted.map(({ job, source }) => [job.workspace_id, job.document_id, source.version, source.body_seq])
  await tx.query(
    prepared(sql.unsafe`
    INSERT INTO relation_extractions (workspace_id, document_id, source_version, body_seq)
    SELECT * FROM ${sql.unnest(rows, ['text', 'text', 'text', 'int8'])}
    ON CONFLICT (workspace_id, document_id) DO UPDATE SET
      source_version = excluded.source_version, body_seq = excluded.body_seq, extracted_at = now()`),
  )
}

/** A new inline relation with the target that its address names. */
type NewInlineRelation = DocumentLink & {
  id: string
  target_document_id: string
  target_block_id: string | null
}

/** The changes to the inline relations of a document: ids to remove, relations to add, and new anchor texts. */
export type InlineRelationChange = {
  remove: readonly string[]
  add: readonly NewInlineRelation[]
  reword: readonly Pick<InlineRelation, 'id' | 'anchor_text'>[]
}

// Removes, adds and rewords inline relations of documents; unchanged relations are not touched.
async function changeInline(
  tx: Transaction,
  changes: readonly { job: DocumentJob; result: InlineRelationChange }[],
): Promise<void> {
  const removed = changes.flatMap(({ job, result }) => result.remove.map((id) => [job.workspace_id, id]))
  if (removed.length > 0) {
    await tx.query(sql.unsafe`
      DELETE FROM relations r USING ${sql.unnest(removed, ['text', 'text'])} AS c (workspace_id, id)
      WHERE r.workspace_id = c.workspace_id AND r.id = c.id`)
  }
  const reworded = changes.flatMap(({ job, result }) =>
    result.reword.map(({ id, anchor_text }) => [job.workspace_id, id, anchor_text]),
  )
  if (reworded.length > 0) {
    await tx.query(sql.unsafe`
      UPDATE relations r SET anchor_text = c.anchor_text
      FROM ${sql.unnest(reworded, ['text', 'text', 'text'])} AS c (workspace_id, id, anchor_text)
      WHERE r.workspace_id = c.workspace_id AND r.id = c.id`)
  }
  const added = changes.flatMap(({ job, result }) => result.add.map((relation) => ({ ...job, ...relation })))
  if (added.length === 0) return
  await tx.query(sql.unsafe`
    INSERT INTO relations
      (workspace_id, id, origin, predicate, source_document_id, source_block_id, target_uri, target_document_id,
       target_block_id, anchor_text)
    SELECT c.workspace_id, c.id, 'inline', 'refers_to', c.document_id, c.source_block_id, c.target_uri,
      c.target_document_id, c.target_block_id, c.anchor_text
    FROM jsonb_to_recordset(${JSON.stringify(added)}::jsonb) AS c
      (workspace_id text, document_id text, id text, source_block_id text, target_uri text, target_document_id text,
       target_block_id text, anchor_text text)`)
}
