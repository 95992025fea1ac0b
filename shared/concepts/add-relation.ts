import { type Caller, visibleWorkspaces } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import type { VersionGuard } from '../requests/version-guard.ts'
import { newId } from '../schema/ids.ts'
import { namedEvidence, type ResolvedEvidence, requireCurrentEvidence, resolveEvidence } from './evidence.ts'
import { findConceptRow, lockConcept, missingConcept, requireConceptWriter, requireUnmerged } from './find.ts'
import { type ConceptRelationInput, readValidity } from './inputs.ts'
import { conceptVersion } from './present.ts'
import { type ConceptRow, lockConcepts, raiseVersion, resolvedConcept } from './queries.ts'
import {
  type ConceptStatement,
  edgeClosesCycle,
  insertRelations,
  lockHierarchy,
  overlappingRelation,
} from './relation-queries.ts'
import type { ConceptPredicate, ObjectKind } from './schema.ts'

/**
 * Adds a relation to a concept and returns the concept and the id of the relation. A merged object is replaced by the
 * concept that it was merged into. Refuses with 409 `concept_merged`, `concept_self_relation`, `evidence_changed`,
 * `concept_relation_exists`, `concept_relation_cycle` or `version_conflict`, in this order. Refuses with 422
 * `cross_knowledge_base` when both concepts are of different knowledge bases.
 */
export async function addRelation(
  tx: Transaction,
  input: { id: string; caller: Caller; relation: ConceptRelationInput; guard: VersionGuard },
): Promise<{ concept: ConceptRow; relationId: string }> {
  const { caller, relation, guard } = input
  requireFittingObject(relation)
  const validity = readValidity(relation)
  const found = await findConceptRow(tx, { caller, id: input.id })
  const { object, resolved } = await findEnds(tx, { caller, found, relation })
  requireConceptWriter(caller, found)
  guard.require()
  const concept = await lockEnds(tx, found, object)
  requireUnmerged(concept)
  requireCurrentEvidence(resolved)
  const statement = { predicate: relation.predicate, ...objectColumns(relation, object), ...validity }
  await requireSound(tx, concept, statement)
  guard.check(conceptVersion(concept))
  if (object !== null && object.knowledge_base_id !== concept.knowledge_base_id) {
    throw new Refusal('cross_knowledge_base')
  }
  const id = newId('crel')
  await insertRelations(tx, concept, [
    { ...statement, id, origin: 'manual', ...evidenceColumns(statement, resolved[0]) },
  ])
  await raiseVersion(tx, concept)
  return { concept, relationId: id }
}

const objectKinds: Record<ConceptPredicate, readonly ObjectKind[]> = {
  alias_of: ['concept'],
  broader_than: ['concept'],
  related_to: ['concept', 'document', 'block'],
  evidenced_by: ['document', 'block'],
}

function requireFittingObject({ predicate, object }: ConceptRelationInput): void {
  const kinds = objectKinds[predicate]
  const hasBlock = object.block_id != null
  const fields = [
    ...(kinds.includes(object.kind) ? [] : [{ path: '/object/kind', message: `must be ${kinds.join(' or ')}` }]),
    ...(hasBlock === (object.kind === 'block')
      ? []
      : [{ path: '/object/block_id', message: hasBlock ? 'is for blocks only' : 'is required' }]),
  ]
  if (fields.length > 0) throw new Refusal('invalid_request', { details: { fields } })
}

type Ends = { object: ConceptRow | null; resolved: ResolvedEvidence[] }

// Finds what the request body names: the object, which is a concept, document or block, and the evidence. Documents
// must be in the workspace of the concept.
async function findEnds(
  tx: Transaction,
  input: { caller: Caller; found: ConceptRow; relation: ConceptRelationInput },
): Promise<Ends> {
  const { caller, found, relation } = input
  const { kind, id, block_id } = relation.object
  const object = kind === 'concept' ? await resolvedConcept(tx, { id, workspaceIds: visibleWorkspaces(caller) }) : null
  if (kind === 'concept' && object === null) throw missingConcept(id, 'object/id')
  const fields = { document: 'object/id', block: 'object/block_id' }
  const objectSource = kind === 'concept' ? [] : [{ document_id: id, block_id, fields }]
  const evidence = relation.evidence === undefined ? [] : [namedEvidence(relation.evidence, 'evidence/')]
  const sources = await resolveEvidence(tx, {
    workspaceId: found.workspace_id,
    evidence: [...objectSource, ...evidence],
  })
  return { object, resolved: sources.slice(objectSource.length) }
}

// Locks both ends of a relation between concepts, so that no other transaction merges one of the two concepts
// meanwhile.
async function lockEnds(tx: Transaction, found: ConceptRow, object: ConceptRow | null): Promise<ConceptRow> {
  if (object === null || object.workspace_id !== found.workspace_id) return lockConcept(tx, found)
  const locked = await lockConcepts(tx, { workspaceId: found.workspace_id, ids: [found.id, object.id] })
  const concept = locked.find(({ id }) => id === found.id)
  const end = locked.find(({ id }) => id === object.id)
  if (concept === undefined) throw missingConcept(found.id)
  if (end === undefined) throw missingConcept(object.id, 'object/id')
  requireUnmerged(end)
  return concept
}

function objectColumns({ object: given }: ConceptRelationInput, object: ConceptRow | null) {
  return { object_kind: given.kind, object_id: object?.id ?? given.id, object_block_id: given.block_id ?? null }
}

async function requireSound(tx: Transaction, concept: ConceptRow, statement: ConceptStatement): Promise<void> {
  if (statement.object_kind === 'concept' && statement.object_id === concept.id) {
    throw new Refusal('concept_self_relation')
  }
  const existing = await overlappingRelation(tx, concept, statement)
  if (existing !== null) throw new Refusal('concept_relation_exists', { details: { id: existing } })
  if (statement.predicate !== 'broader_than') return
  await lockHierarchy(tx, concept.knowledge_base_id)
  const edge = { workspaceId: concept.workspace_id, from: concept.id, to: statement.object_id }
  if (await edgeClosesCycle(tx, edge)) throw new Refusal('concept_relation_cycle')
}

// The columns of a relation's evidence. Without further evidence, the object of an `evidenced_by` relation is its
// evidence. The version of that evidence is null, and its freshness `unanchored`.
function evidenceColumns(statement: ConceptStatement, resolved: ResolvedEvidence | undefined) {
  const isItself = resolved === undefined && statement.predicate === 'evidenced_by'
  return {
    evidence_document_id: isItself ? statement.object_id : (resolved?.document_id ?? null),
    evidence_block_id: isItself ? statement.object_block_id : (resolved?.block_id ?? null),
    evidence_version: resolved?.version ?? null,
    evidence_excerpt: resolved?.excerpt ?? null,
  }
}
