import Type, { type Static } from 'typebox'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { Nullable } from '../schema/identifiers.ts'
import { ConceptMerge, ConceptStatus, ConceptSummary } from './schema.ts'

const text = Type.String()
const ConceptShape = Type.Object({
  workspace_id: text,
  id: text,
  knowledge_base_id: Type.Number(),
  name: text,
  normalized_name: text,
  description: Nullable(text),
  status: ConceptStatus,
  canonical_document_id: Nullable(text),
  version: Type.Number(),
  merged_into_concept_id: Nullable(text),
  created_at: Type.Number(),
  updated_at: Type.Number(),
})
const ConceptRow = row(ConceptShape)

/** A row of `concepts` without the columns that describe its merge. */
export type ConceptRow = Static<typeof ConceptShape>

/** The primary key of a concept. */
export type ConceptKey = Pick<ConceptRow, 'workspace_id' | 'id'>

const columns = sql.fragment`
  c.workspace_id, c.id, c.knowledge_base_id, c.name, c.normalized_name, c.description, c.status,
  c.canonical_document_id, c.version, c.merged_into_concept_id, c.created_at, c.updated_at`

const { alias_objects, labels } = ConceptSummary.properties
const NamedShape = Type.Object({ ...ConceptShape.properties, alias_objects, labels })
const NamedConcept = row(NamedShape)

/** A concept with its aliases and labels, as lists show it. */
export type NamedConcept = Static<typeof NamedShape>

const milliseconds = (column: string) =>
  sql.fragment`(extract(epoch FROM ${sql.identifier(['l', column])}) * 1000)::int8`

const namings = sql.fragment`
  coalesce((
    SELECT jsonb_agg(
      jsonb_build_object('id', a.id, 'alias', a.alias, 'normalized_alias', a.normalized_alias, 'origin', a.origin)
      ORDER BY a.origin <> 'manual', a.ordinal, a.id)
    FROM concept_aliases a WHERE a.workspace_id = c.workspace_id AND a.concept_id = c.id
  ), '[]') AS alias_objects,
  coalesce((
    SELECT jsonb_agg(
      jsonb_build_object('locale', l.locale, 'name', l.name, 'description', l.description, 'origin', l.origin,
        'created_by', l.created_by, 'created_at', ${milliseconds('created_at')},
        'updated_at', ${milliseconds('updated_at')})
      ORDER BY l.locale)
    FROM concept_labels l WHERE l.workspace_id = c.workspace_id AND l.concept_id = c.id
  ), '[]') AS labels`

/** The id of a concept, and the workspaces that the caller can see. */
export type ConceptLocator = { id: string; workspaceIds: readonly string[] }

const located = (locator: ConceptLocator) => sql.fragment`
  ${inWorkspaces(sql.fragment`c.workspace_id`, locator.workspaceIds)} AND c.id = ${locator.id}`

/** Returns a visible concept as stored, or null. */
export function visibleConcept(db: Queryable, locator: ConceptLocator): Promise<ConceptRow | null> {
  return db.maybeOne(sql.type(ConceptRow)`SELECT ${columns} FROM concepts c WHERE ${located(locator)}`)
}

/**
 * Returns a visible concept with its names, or null. The id of a merged concept leads to the concept that it was merged
 * into.
 */
export function resolvedConcept(db: Queryable, locator: ConceptLocator): Promise<NamedConcept | null> {
  return db.maybeOne(sql.type(NamedConcept)`
    SELECT ${columns}, ${namings} FROM concepts asked
    JOIN concepts c
      ON c.workspace_id = asked.workspace_id AND c.id = coalesce(asked.merged_into_concept_id, asked.id)
    WHERE ${inWorkspaces(sql.fragment`asked.workspace_id`, locator.workspaceIds)} AND asked.id = ${locator.id}`)
}

/** Returns a concept with its names. */
export function namedConcept(db: Queryable, concept: ConceptKey): Promise<NamedConcept> {
  return db.one(sql.type(NamedConcept)`
    SELECT ${columns}, ${namings} FROM concepts c
    WHERE c.workspace_id = ${concept.workspace_id} AND c.id = ${concept.id}`)
}

/** Locks concepts of one workspace in id order against every other write. Missing concepts are left out. */
export function lockConcepts(
  tx: Transaction,
  input: { workspaceId: string; ids: readonly string[] },
): Promise<readonly ConceptRow[]> {
  return tx.any(sql.type(ConceptRow)`
    SELECT ${columns} FROM concepts c
    WHERE c.workspace_id = ${input.workspaceId} AND c.id = ANY(${sql.array([...input.ids], 'text')})
    ORDER BY c.id FOR NO KEY UPDATE`)
}

/** The columns of a new row of `concepts`. */
export type NewConcept = Pick<
  ConceptRow,
  'workspace_id' | 'id' | 'knowledge_base_id' | 'name' | 'normalized_name' | 'description' | 'canonical_document_id'
>

/** Inserts an active concept with version 1. The caller must have claimed its name. */
export function insertConcept(tx: Transaction, concept: NewConcept): Promise<ConceptRow> {
  return tx.one(sql.type(ConceptRow)`
    INSERT INTO concepts AS c
      (workspace_id, id, knowledge_base_id, name, normalized_name, description, canonical_document_id)
    VALUES (${concept.workspace_id}, ${concept.id}, ${concept.knowledge_base_id}, ${concept.name},
      ${concept.normalized_name}, ${concept.description}, ${concept.canonical_document_id})
    RETURNING ${columns}`)
}

/** The columns that a PATCH can change. */
export type ConceptColumns = Pick<
  ConceptRow,
  'name' | 'normalized_name' | 'description' | 'canonical_document_id' | 'status'
>

/** Replaces the columns of a concept. The caller has locked the row by `lockConcepts`. */
export async function updateColumns(tx: Transaction, concept: ConceptRow, to: ConceptColumns): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE concepts SET name = ${to.name}, normalized_name = ${to.normalized_name}, description = ${to.description},
      canonical_document_id = ${to.canonical_document_id}, status = ${to.status}
    WHERE workspace_id = ${concept.workspace_id} AND id = ${concept.id}`)
}

/**
 * Raises the version of a concept and sets `updated_at`, which never goes back. The caller has locked the row by
 * `lockConcepts`.
 */
export async function raiseVersion(tx: Transaction, concept: ConceptKey): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE concepts SET version = version + 1, updated_at = greatest(clock_timestamp(), updated_at)
    WHERE workspace_id = ${concept.workspace_id} AND id = ${concept.id}`)
}

const MergeRow = row(ConceptMerge)

/** Returns the concepts that were merged into a concept, directly or through another concept, oldest first. */
export function mergeHistory(db: Queryable, concept: ConceptKey): Promise<readonly ConceptMerge[]> {
  return db.any(sql.type(MergeRow)`
    SELECT id AS concept_id, name, merged_at, merged_by, merge_reason AS reason FROM concepts
    WHERE workspace_id = ${concept.workspace_id} AND merged_into_concept_id = ${concept.id}
    ORDER BY merged_at, id`)
}

const NameRow = row(Type.Object({ id: text, name: text }))

/** Returns the names of concepts of one workspace by their ids. Ids that do not exist are left out. */
export async function conceptNames(
  db: Queryable,
  input: { workspaceId: string; ids: readonly string[] },
): Promise<ReadonlyMap<string, string>> {
  if (input.ids.length === 0) return new Map()
  const rows = await db.any(sql.type(NameRow)`
    SELECT id, name FROM concepts
    WHERE workspace_id = ${input.workspaceId} AND id = ANY(${sql.array([...input.ids], 'text')})`)
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** The filters of `GET /concepts`; `after` is the position of the last concept of the previous page. */
export type ConceptFilter = {
  workspaceId: string
  knowledgeBaseId: number
  status: ConceptStatus | 'all'
  /** The id of the canonical document of the concept, or of a document that is evidence of one of its relations. */
  documentId?: string | undefined
  /** A part of the normalised name or of a normalised alias. */
  nameContains?: string | undefined
  after: ConceptPosition | null
  limit: number
}

/**
 * The position of a concept in the list. Names are too long for a cursor, so the position holds the beginning of the
 * name. While the concept still has that beginning, its whole name is the position. Otherwise the page starts at the
 * beginning of the name, so that no concept is skipped.
 */
export type ConceptPosition = { nameStart: string; id: string }

/** The number of characters of a name in a position. */
export const nameStartLength = 40

/** Returns one page of concepts of a knowledge base by name, with one more than the limit when there are more. */
export function conceptPage(db: Queryable, filter: ConceptFilter): Promise<readonly NamedConcept[]> {
  return db.any(sql.type(NamedConcept)`
    SELECT ${columns}, ${namings} FROM concepts c
    WHERE c.workspace_id = ${filter.workspaceId} AND c.knowledge_base_id = ${filter.knowledgeBaseId}
      AND ${sql.join(conditions(filter), sql.fragment` AND `)}
    ORDER BY c.name, c.id LIMIT ${filter.limit + 1}`)
}

function conditions(filter: ConceptFilter) {
  const { status, documentId, nameContains, after } = filter
  return [
    sql.fragment`true`,
    ...(status === 'all' ? [] : [sql.fragment`c.status = ${status}`]),
    ...(documentId === undefined ? [] : [concerns(filter.workspaceId, documentId)]),
    ...(nameContains === undefined ? [] : [named(nameContains)]),
    ...(after === null ? [] : [isBehind(filter.workspaceId, after)]),
  ]
}

function concerns(workspaceId: string, documentId: string) {
  return sql.fragment`c.id IN (
    SELECT id FROM concepts WHERE workspace_id = ${workspaceId} AND canonical_document_id = ${documentId}
    UNION
    SELECT subject_concept_id FROM concept_relations
    WHERE workspace_id = ${workspaceId} AND evidence_document_id = ${documentId})`
}

// The aliases are tested by an aggregate. With EXISTS the planner may read the aliases of all workspaces into a hash
// table.
function named(part: string) {
  return sql.fragment`(
    strpos(c.normalized_name, ${part}) > 0
    OR (
      SELECT bool_or(strpos(a.normalized_alias, ${part}) > 0) FROM concept_aliases a
      WHERE a.workspace_id = c.workspace_id AND a.concept_id = c.id))`
}

function isBehind(workspaceId: string, { nameStart, id }: ConceptPosition) {
  return sql.fragment`
    (c.name, c.id) > (
      coalesce((
        SELECT name FROM concepts
        WHERE workspace_id = ${workspaceId} AND id = ${id} AND left(name, ${nameStartLength}::int) = ${nameStart}
      ), ${nameStart} COLLATE "C"),
      ${id})`
}
