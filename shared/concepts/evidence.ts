import Type from 'typebox'
import type { Caller } from '../auth/caller.ts'
import { type Queryable, sql, type Transaction } from '../database/database.ts'
import { row } from '../database/row.ts'
import { documentNotFound } from '../documents/require.ts'
import { Refusal } from '../errors/errors.ts'
import type { VersionGuard } from '../requests/version-guard.ts'
import { Nullable } from '../schema/identifiers.ts'
import { newId } from '../schema/ids.ts'
import { findConceptRow, lockConcept, requireConceptWriter, requireUnmerged } from './find.ts'
import { type ConceptEvidenceInput, type EvidenceInput, readValidity } from './inputs.ts'
import { conceptVersion } from './present.ts'
import { type ConceptKey, type ConceptRow, raiseVersion } from './queries.ts'
import { type ConceptRelationRow, insertRelations } from './relation-queries.ts'
import type { RelationOrigin } from './schema.ts'
import { currentSources } from './sources.ts'

/** Evidence whose document and block have been found, as it will be recorded. */
export type ResolvedEvidence = {
  document_id: string
  block_id: string | null
  version: string
  excerpt: string | null
  /** The version that the caller sent, if any. */
  provided: string | undefined
}

/**
 * Evidence of a request body. `fields` are the members that name its document and block, for `details.field` of an
 * error.
 */
export type NamedEvidence = EvidenceInput & { fields: { document: string; block: string } }

/**
 * Adds evidence to a concept. If the document and block are evidence already, the existing relation takes over version
 * and excerpt. Refuses with 409 `concept_merged`, `evidence_changed` or `version_conflict`, in this order.
 */
export async function addEvidence(
  tx: Transaction,
  input: { id: string; caller: Caller; evidence: ConceptEvidenceInput; guard: VersionGuard },
): Promise<{ concept: ConceptRow; relationId: string }> {
  const { caller, guard } = input
  const validity = readValidity(input.evidence)
  const found = await findConceptRow(tx, { caller, id: input.id })
  const resolved = await resolveEvidence(tx, {
    workspaceId: found.workspace_id,
    evidence: [namedEvidence(input.evidence, '')],
  })
  requireConceptWriter(caller, found)
  guard.require()
  const concept = await lockConcept(tx, found)
  requireUnmerged(concept)
  requireCurrentEvidence(resolved)
  guard.check(conceptVersion(concept))
  const evidence = resolved.map((one) => ({ ...one, ...validity }))
  const [relationId = ''] = await recordEvidence(tx, concept, { evidence, origin: 'manual' })
  await raiseVersion(tx, concept)
  return { concept, relationId }
}

/**
 * Adds the paths that the members of evidence have in the request; a refusal names such a path as `field`. `prefix` is
 * the path to the evidence, for example `evidence/`.
 */
export function namedEvidence(evidence: EvidenceInput, prefix: string): NamedEvidence {
  return { ...evidence, fields: { document: `${prefix}document_id`, block: `${prefix}block_id` } }
}

/**
 * Finds the documents and blocks of evidence in the workspace and returns their current versions. Refuses with 404
 * `document_not_found` or `block_not_found`, with the member that named the missing document or block.
 */
export async function resolveEvidence(
  db: Queryable,
  input: { workspaceId: string; evidence: readonly NamedEvidence[] },
): Promise<ResolvedEvidence[]> {
  const references = input.evidence.map(({ document_id, block_id }) => ({
    document_id,
    block_id: block_id ?? null,
    source_version: null,
  }))
  const sources = await currentSources(db, { workspaceId: input.workspaceId, references })
  return input.evidence.map(({ document_id, block_id = null, excerpt = null, source_version, fields }) => {
    const version = sources.version(document_id)
    if (version === null) throw documentNotFound(document_id, fields.document)
    if (block_id !== null && !sources.hasBlock({ document_id, block_id, source_version: null }))
      throw new Refusal('block_not_found', { details: { id: block_id, field: fields.block } })
    return { document_id, block_id, version, excerpt, provided: source_version }
  })
}

/** Refuses with 409 `evidence_changed` when a document has changed since the version that the caller named. */
export function requireCurrentEvidence(evidence: readonly ResolvedEvidence[]): void {
  for (const { provided, version } of evidence) {
    if (provided !== undefined && provided !== version)
      throw new Refusal('evidence_changed', { details: { provided, current_version: version } })
  }
}

/**
 * Evidence to record. The evidence is valid in [valid_from, valid_to), in Unix milliseconds. Null means that there is
 * no bound on that side.
 */
type RecordedEvidence = ResolvedEvidence & { valid_from: number | null; valid_to: number | null }

/**
 * Records evidence for a concept as one `evidenced_by` relation for each document and block. An existing relation takes
 * over version and excerpt and keeps everything else. Returns the ids of the relations. The caller has locked the row
 * of the concept.
 */
export async function recordEvidence(
  tx: Transaction,
  concept: ConceptKey,
  input: { evidence: readonly RecordedEvidence[]; origin: RelationOrigin },
): Promise<string[]> {
  const bySource = new Map(
    input.evidence.map((evidence) => [sourceKey(evidence.document_id, evidence.block_id), evidence]),
  )
  const there = await evidenceRelations(tx, concept, [...bySource.values()])
  const known = new Map(there.map((found) => [sourceKey(found.object_id, found.object_block_id), found.id]))
  const relations = [...bySource].map(([key, evidence]) => ({
    ...evidenceRelation(evidence, input.origin),
    id: known.get(key) ?? newId('crel'),
    isKnown: known.has(key),
  }))
  await refreshEvidence(
    tx,
    concept,
    relations.filter(({ isKnown }) => isKnown),
  )
  await insertRelations(
    tx,
    concept,
    relations.filter(({ isKnown }) => !isKnown),
  )
  return relations.map(({ id }) => id)
}

function sourceKey(documentId: string, blockId: string | null): string {
  return JSON.stringify([documentId, blockId])
}

function evidenceRelation(evidence: RecordedEvidence, origin: RelationOrigin) {
  const { document_id, block_id, version, excerpt, valid_from, valid_to } = evidence
  return {
    predicate: 'evidenced_by' as const,
    object_kind: block_id === null ? ('document' as const) : ('block' as const),
    object_id: document_id,
    object_block_id: block_id,
    valid_from,
    valid_to,
    origin,
    evidence_document_id: document_id,
    evidence_block_id: block_id,
    evidence_version: version,
    evidence_excerpt: excerpt,
  }
}

const EvidenceRow = row(
  Type.Object({ id: Type.String(), object_id: Type.String(), object_block_id: Nullable(Type.String()) }),
)

// Returns the oldest relation of each document and block; several relations with different validity may exist.
function evidenceRelations(tx: Transaction, concept: ConceptKey, evidence: readonly ResolvedEvidence[]) {
  const documentIds = evidence.map(({ document_id }) => document_id)
  return tx.any(sql.type(EvidenceRow)`
    SELECT DISTINCT ON (r.object_id, r.object_block_id) r.id, r.object_id, r.object_block_id FROM concept_relations r
    WHERE r.workspace_id = ${concept.workspace_id} AND r.subject_concept_id = ${concept.id}
      AND r.object_id = ANY(${sql.array(documentIds, 'text')}) AND r.predicate = 'evidenced_by'
    ORDER BY r.object_id, r.object_block_id, r.id`)
}

async function refreshEvidence(
  tx: Transaction,
  concept: ConceptKey,
  relations: readonly Pick<ConceptRelationRow, 'id' | 'evidence_version' | 'evidence_excerpt'>[],
): Promise<void> {
  if (relations.length === 0) return
  await tx.query(sql.unsafe`
    UPDATE concept_relations r SET evidence_document_id = r.object_id, evidence_block_id = r.object_block_id,
      evidence_version = n.evidence_version, evidence_excerpt = n.evidence_excerpt
    FROM jsonb_to_recordset(${JSON.stringify(relations)}::jsonb) AS n
      (id text, evidence_version text, evidence_excerpt text)
    WHERE r.workspace_id = ${concept.workspace_id} AND r.id = n.id`)
}
