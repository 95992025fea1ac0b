import type { Queryable } from '../database/database.ts'
import { type ConceptRow, mergeHistory, type NamedConcept } from './queries.ts'
import { type ConceptRelationRow, outgoingRelations, type TraversedRow } from './relation-queries.ts'
import type { Concept, ConceptEvidence, ConceptRelation, ConceptSummary, TraversedRelation } from './schema.ts'
import { type CurrentSources, currentSources, type SourceReference } from './sources.ts'

/** Returns the version of a concept as its ETag and its member `version` carry it. */
export function conceptVersion(concept: Pick<ConceptRow, 'version'>): string {
  return `concept:${concept.version}`
}

/** Returns a concept as lists show it. */
export function presentSummary(concept: NamedConcept): ConceptSummary {
  const { workspace_id: _workspace, ...members } = concept
  return {
    ...members,
    uri: `svc://concept/${concept.id}`,
    aliases: concept.alias_objects.map(({ alias }) => alias),
    version: conceptVersion(concept),
  }
}

/** Returns a concept with its relations, their temporal status at this moment, and its merge history. */
export async function presentConcept(db: Queryable, concept: NamedConcept): Promise<Concept> {
  const relations = await outgoingRelations(db, concept)
  return {
    ...presentSummary(concept),
    relations: await presentRelations(db, { concept, relations, at: Date.now() }),
    merge_history: [...(await mergeHistory(db, concept))],
  }
}

/**
 * Returns traversed relations with their directions. `at` is the instant of their temporal status, in Unix
 * milliseconds.
 */
export async function presentTraversed(
  db: Queryable,
  input: { concept: Pick<ConceptRow, 'workspace_id'>; relations: readonly TraversedRow[]; at: number },
): Promise<TraversedRelation[]> {
  const presented = await presentRelations(db, input)
  return input.relations.flatMap(({ direction }, index) => {
    const relation = presented[index]
    return relation === undefined ? [] : [{ ...relation, direction }]
  })
}

// `at` is the instant of the temporal status, in Unix milliseconds.
async function presentRelations(
  db: Queryable,
  input: { concept: Pick<ConceptRow, 'workspace_id'>; relations: readonly ConceptRelationRow[]; at: number },
): Promise<ConceptRelation[]> {
  const references = input.relations.flatMap((relation) => [...objectOf(relation), ...evidenceOf(relation)])
  const sources = await currentSources(db, { workspaceId: input.concept.workspace_id, references })
  return input.relations.map((relation) => ({
    id: relation.id,
    subject_concept_id: relation.subject_concept_id,
    predicate: relation.predicate,
    object: {
      kind: relation.object_kind,
      id: relation.object_id,
      block_id: relation.object_block_id,
      uri: uriOf(relation),
    },
    temporal_status: temporalStatus(relation, input.at),
    origin: relation.origin,
    evidence: presentEvidence(relation, sources),
    valid_from: relation.valid_from,
    valid_to: relation.valid_to,
  }))
}

function uriOf({ object_kind, object_id, object_block_id }: ConceptRelationRow): string {
  if (object_kind === 'concept') return `svc://concept/${object_id}`
  return object_block_id === null ? `svc://doc/${object_id}` : `svc://doc/${object_id}#block=${object_block_id}`
}

function temporalStatus({ valid_from, valid_to }: ConceptRelationRow, at: number): ConceptRelation['temporal_status'] {
  if (valid_from !== null && at < valid_from) return 'future'
  return valid_to !== null && at >= valid_to ? 'expired' : 'current'
}

// The document or block that a relation points at. If the evidence of the relation is the same block, the version of
// the evidence is a body that had this block.
function objectOf(relation: ConceptRelationRow): SourceReference[] {
  const { object_kind, object_id, object_block_id, evidence_document_id, evidence_block_id } = relation
  if (object_kind === 'concept') return []
  const isEvidence = evidence_document_id === object_id && evidence_block_id === object_block_id
  const source_version = isEvidence ? relation.evidence_version : null
  return [{ document_id: object_id, block_id: object_block_id, source_version }]
}

function evidenceOf(relation: ConceptRelationRow): SourceReference[] {
  const { evidence_document_id, evidence_block_id, evidence_version } = relation
  if (evidence_document_id === null) return []
  return [{ document_id: evidence_document_id, block_id: evidence_block_id, source_version: evidence_version }]
}

function presentEvidence(relation: ConceptRelationRow, sources: CurrentSources): ConceptEvidence | null {
  const [evidence] = evidenceOf(relation)
  if (evidence === undefined) return null
  return {
    ...evidence,
    current_version: sources.version(evidence.document_id),
    excerpt: relation.evidence_excerpt,
    freshness: freshnessOf({ evidence, object: objectOf(relation)[0], sources }),
  }
}

// A missing object says more than missing evidence, so it is reported first.
function freshnessOf(input: {
  evidence: SourceReference
  object: SourceReference | undefined
  sources: CurrentSources
}): ConceptEvidence['freshness'] {
  const { evidence, object, sources } = input
  if (object !== undefined && sources.version(object.document_id) === null) return 'dangling_document'
  if (object !== undefined && !sources.hasBlock(object)) return 'dangling_block'
  const current = sources.version(evidence.document_id)
  if (current === null) return 'dangling_evidence_document'
  if (!sources.hasBlock(evidence)) return 'dangling_evidence_block'
  if (evidence.source_version === null) return 'unanchored'
  return evidence.source_version === current ? 'current' : 'stale'
}
