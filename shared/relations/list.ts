import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { Nullable } from '../schema/identifiers.ts'
import { blockUri, type DocumentRelation, Predicate, predicates } from './schema.ts'

/**
 * Returns one page of the relations of a document with their status, with one more than the limit when there are more.
 */
export async function listRelations(db: Queryable, filter: RelationFilter): Promise<DocumentRelation[]> {
  return withStatus(db, await relationPage(db, filter))
}

/** Returns a relation with its status. */
export async function readRelation(db: Queryable, locator: RelationLocator): Promise<DocumentRelation> {
  const [relation] = await withStatus(db, [await visibleRelation(db, locator)])
  return relation as DocumentRelation
}

/** A function that tells whether a block exists. The function knows only the blocks that were looked up. */
type BlockExists = (documentId: string, blockId: string) => boolean

async function withStatus(db: Queryable, relations: readonly RelationRow[]): Promise<DocumentRelation[]> {
  const open = relations.flatMap(openBlocks)
  const found = open.length === 0 ? [] : await existingBlocks(db, open)
  const keys = new Set(
    found.map(({ document_id, block_id }) => blockUri({ documentId: document_id, blockId: block_id })),
  )
  const exists: BlockExists = (documentId, blockId) => keys.has(blockUri({ documentId, blockId }))
  return relations.map((relation) => present(relation, exists))
}

// Returns the blocks that must be looked up in their bodies. A relation that was extracted from the current body needs
// no look-up of its source block.
function openBlocks(relation: RelationRow): BlockKey[] {
  const { workspace_id, source_document_id, source_block_id, target_workspace_id, target_block_id } = relation
  const source = { workspace_id, document_id: source_document_id, block_id: source_block_id }
  const sourceOpen = relation.current_version !== null && !extractedNow(relation)
  const target =
    target_workspace_id === null || target_block_id === null
      ? []
      : [{ workspace_id: target_workspace_id, document_id: relation.target_document_id, block_id: target_block_id }]
  return [...(sourceOpen ? [source] : []), ...target]
}

function extractedNow({ origin, extracted_version, current_version }: RelationRow): boolean {
  return origin === 'inline' && extracted_version === current_version
}

function present(relation: RelationRow, exists: BlockExists): DocumentRelation {
  const { source_document_id, source_block_id, target_document_id, source_title, target_title } = relation
  const fresh = (isCurrent: boolean) => (isCurrent ? 'current' : 'stale')
  return {
    id: relation.id,
    predicate: relation.predicate,
    origin: relation.origin,
    source: {
      uri: blockUri({ documentId: source_document_id, blockId: source_block_id }),
      document_id: source_document_id,
      block_id: source_block_id,
      document: source_title === null ? null : { id: source_document_id, title: source_title },
    },
    target: {
      uri: relation.target_uri,
      document_id: target_document_id,
      block_id: relation.target_block_id,
      document: target_title === null ? null : { id: target_document_id, title: target_title },
    },
    anchor_text: relation.anchor_text,
    source_version: relation.source_version,
    evidence_freshness: fresh(relation.source_version === relation.current_version),
    projection_freshness: fresh(relation.origin === 'manual' || extractedNow(relation)),
    status: statusOf(relation, exists),
    created_at: relation.created_at,
    created_by: relation.created_by,
  }
}

// The status names the first missing end: source document, source block, target document, target block.
function statusOf(relation: RelationRow, exists: BlockExists): DocumentRelation['status'] {
  const { source_document_id, source_block_id, target_document_id, target_block_id } = relation
  if (relation.current_version === null) return 'dangling_source_document'
  if (!extractedNow(relation) && !exists(source_document_id, source_block_id)) return 'dangling_source_block'
  if (relation.target_workspace_id === null) return 'dangling_target_document'
  if (target_block_id !== null && !exists(target_document_id, target_block_id)) return 'dangling_target_block'
  return 'valid'
}

const RelationShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  origin: Type.Enum(['inline', 'manual']),
  predicate: Predicate,
  source_document_id: Type.String(),
  source_block_id: Type.String(),
  target_uri: Type.String(),
  target_document_id: Type.String(),
  target_block_id: Nullable(Type.String()),
  anchor_text: Type.String(),
  created_at: Type.Number(),
  created_by: Nullable(Type.String()),
  source_version: Type.String(),
  source_title: Nullable(Type.String()),
  current_version: Nullable(Type.String()),
  extracted_version: Nullable(Type.String()),
  target_workspace_id: Nullable(Type.String()),
  target_title: Nullable(Type.String()),
})

/**
 * A relation with the current state of its ends. `source_version` is the version of its evidence, and `current_version`
 * is the version of the source's body. The members of the target are null when the caller cannot see the target.
 */
export type RelationRow = Static<typeof RelationShape>

/** The filters of a document's relations; `after` is the position of the last relation of the previous page. */
export type RelationFilter = {
  document: { workspace_id: string; id: string }
  workspaceIds: readonly string[]
  direction: 'outgoing' | 'incoming' | 'both'
  predicate: Predicate | undefined
  after: { createdAt: number; id: string } | null
  limit: number
}

/** Returns one page of a document's relations by time, with one more than the limit when there are more. @internal */
export function relationPage(db: Queryable, filter: RelationFilter): Promise<readonly RelationRow[]> {
  const { direction, workspaceIds } = filter
  const parts = [
    ...(direction === 'incoming' ? [] : [outgoing(filter)]),
    ...(direction === 'outgoing' ? [] : [incoming(filter)]),
  ]
  return db.any(sql.type(row(RelationShape))`
    WITH page AS (
      SELECT * FROM (${sql.join(parts, sql.fragment` UNION ALL `)}) AS r
      ORDER BY r.created_at, r.id LIMIT ${filter.limit + 1}
    )
    ${described(workspaceIds, sql.fragment`page`)}
    ORDER BY r.created_at, r.id`)
}

// Reads one range of the index for each workspace and predicate, in order and at most one page long.
const runs = (filter: RelationFilter, input: { workspaceIds: readonly string[]; end: ReturnType<typeof end> }) => {
  const wanted = filter.predicate === undefined ? predicates : [filter.predicate]
  const later = filter.after === null ? sql.fragment`true` : laterThan(filter.after)
  return sql.fragment`
    SELECT run.* FROM unnest(${sql.array([...input.workspaceIds], 'text')}) AS w (id)
    CROSS JOIN unnest(${sql.array([...wanted], 'text')}) AS p (predicate)
    CROSS JOIN LATERAL (
      SELECT r.* FROM relations r
      WHERE r.workspace_id = w.id AND ${input.end} AND r.predicate = p.predicate AND ${later}
      ORDER BY r.created_at, r.id LIMIT ${filter.limit + 1}
    ) AS run`
}

const outgoing = (filter: RelationFilter) =>
  runs(filter, { workspaceIds: [filter.document.workspace_id], end: end('source_document_id', filter) })

// When both directions are listed, a relation of the document with itself is left out here, because it is listed as
// outgoing already.
const incoming = (filter: RelationFilter) => {
  const target = end('target_document_id', filter)
  const once = sql.fragment`${target} AND r.source_document_id <> ${filter.document.id}`
  return runs(filter, { workspaceIds: filter.workspaceIds, end: filter.direction === 'both' ? once : target })
}

const end = (column: 'source_document_id' | 'target_document_id', { document }: RelationFilter) =>
  sql.fragment`${sql.identifier(['r', column])} = ${document.id}`

const laterThan = ({ createdAt, id }: { createdAt: number; id: string }) =>
  sql.fragment`(r.created_at, r.id) > (to_timestamp(${createdAt}::float8 / 1000)::timestamptz(3), ${id})`

// Joins relations with their ends. The columns of an end are null when the end is gone or the caller cannot see it.
// LIMIT 1 keeps the planner from reading whole tables for a page, which made the query thirty times slower.
const described = (workspaceIds: readonly string[], rows: ReturnType<typeof sql.fragment>) => sql.fragment`
  SELECT r.workspace_id, r.id, r.origin, r.predicate, r.source_document_id, r.source_block_id, r.target_uri,
    r.target_document_id, r.target_block_id, r.anchor_text, r.created_at, r.created_by,
    coalesce(r.source_version, e.source_version) AS source_version,
    s.title AS source_title, s.version AS current_version, e.source_version AS extracted_version,
    t.workspace_id AS target_workspace_id, t.title AS target_title
  FROM ${rows} AS r
  LEFT JOIN LATERAL (
    SELECT s.title, s.version FROM documents s
    WHERE s.workspace_id = r.workspace_id AND s.id = r.source_document_id LIMIT 1
  ) AS s ON true
  LEFT JOIN LATERAL (
    SELECT e.source_version FROM relation_extractions e
    WHERE e.workspace_id = r.workspace_id AND e.document_id = r.inline_source_id LIMIT 1
  ) AS e ON true
  LEFT JOIN LATERAL (
    SELECT t.workspace_id, t.title
    FROM document_directory i JOIN documents t ON t.workspace_id = i.workspace_id AND t.id = i.id
    WHERE i.id = r.target_document_id AND ${inWorkspaces(sql.fragment`i.workspace_id`, workspaceIds)}
    LIMIT 1
  ) AS t ON true`

/** The id of a relation, and the workspaces that the caller can see. */
export type RelationLocator = { id: string; workspaceIds: readonly string[] }

// Returns a visible relation with the current state of its ends.
function visibleRelation(db: Queryable, locator: RelationLocator): Promise<RelationRow> {
  return db.one(sql.type(row(RelationShape))`
    ${described(locator.workspaceIds, sql.fragment`relations`)}
    WHERE ${inWorkspaces(sql.fragment`r.workspace_id`, locator.workspaceIds)} AND r.id = ${locator.id}`)
}

/** A block and the document that should contain it. */
type BlockKey = { workspace_id: string; document_id: string; block_id: string }

const BlockRow = row(Type.Object({ document_id: Type.String(), block_id: Type.String() }))

/**
 * Returns which of the blocks exist in the current bodies of their documents. Canonical JSON escapes quotes inside
 * texts, so an id between quotes is always an attribute. @internal
 */
export function existingBlocks(db: Queryable, blocks: readonly BlockKey[]) {
  const rows = blocks.map(({ workspace_id, document_id, block_id }) => [workspace_id, document_id, block_id])
  // OFFSET 0 and the concatenation keep the planner from decompressing the body again for every block.
  return db.any(sql.type(BlockRow)`
    SELECT text.document_id, wanted.block_id
    FROM (
      SELECT w.document_id, w.block_ids, b.body || '' AS body
      FROM (
        SELECT workspace_id, document_id, array_agg(DISTINCT block_id) AS block_ids
        FROM ${sql.unnest(rows, ['text', 'text', 'text'])} AS u (workspace_id, document_id, block_id) GROUP BY 1, 2
      ) AS w
      JOIN documents d ON d.workspace_id = w.workspace_id AND d.id = w.document_id
      JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
      OFFSET 0
    ) AS text
    CROSS JOIN LATERAL unnest(text.block_ids) AS wanted (block_id)
    WHERE strpos(text.body, '"id":"' || wanted.block_id || '"') > 0`)
}
