import Type, { type Static } from 'typebox'
import { IntegerId, Nullable, Time, UserId, Version } from '../schema/identifiers.ts'

/** The predicates of concept relations. */
export const ConceptPredicate = Type.Enum(['alias_of', 'broader_than', 'related_to', 'evidenced_by'])
export type ConceptPredicate = Static<typeof ConceptPredicate>

/** The states of a concept. */
export const ConceptStatus = Type.Enum(['active', 'merged', 'archived'])
export type ConceptStatus = Static<typeof ConceptStatus>

/** The origin of an alias or label. */
export const NamingOrigin = Type.Enum(['manual', 'candidate', 'merge'])
export type NamingOrigin = Static<typeof NamingOrigin>

/** The origin of a concept relation. */
export const RelationOrigin = Type.Enum(['manual', 'candidate'])
export type RelationOrigin = Static<typeof RelationOrigin>

/** The kinds of objects of a concept relation. */
export const ObjectKind = Type.Enum(['concept', 'document', 'block'])
export type ObjectKind = Static<typeof ObjectKind>

/** The version of a concept, without quotes. */
const ConceptVersion = Type.String({ pattern: '^concept:[1-9][0-9]*$', description: 'concept:n' })

/** The document or block that backs a statement, and whether that document or block has changed since. */
export const ConceptEvidence = Type.Object(
  {
    document_id: Type.String(),
    block_id: Nullable(Type.String()),
    source_version: Nullable(Version),
    current_version: Nullable(Version),
    excerpt: Nullable(Type.String()),
    freshness: Type.Enum([
      'current',
      'stale',
      'dangling_evidence_document',
      'dangling_evidence_block',
      'dangling_document',
      'dangling_block',
      'unanchored',
    ]),
  },
  { $id: 'ConceptEvidence' },
)
export type ConceptEvidence = Static<typeof ConceptEvidence>

const relationMembers = {
  id: Type.String(),
  subject_concept_id: Type.String(),
  predicate: ConceptPredicate,
  object: Type.Object({
    kind: ObjectKind,
    id: Type.String({ description: 'of a concept or, for the kinds document and block, of a document' }),
    block_id: Nullable(Type.String()),
    uri: Type.String(),
  }),
  temporal_status: Type.Enum(['current', 'future', 'expired']),
  origin: RelationOrigin,
  evidence: Nullable(ConceptEvidence),
  valid_from: Nullable(Time),
  valid_to: Nullable(Time),
}

/** A relation of a concept, valid in [valid_from, valid_to). Null means that there is no bound on that side. */
export const ConceptRelation = Type.Object(relationMembers, { $id: 'ConceptRelation' })
export type ConceptRelation = Static<typeof ConceptRelation>

/** A relation as a traversal from one of its ends shows it. */
export const TraversedRelation = Type.Object(
  { ...relationMembers, direction: Type.Enum(['outgoing', 'incoming']) },
  { $id: 'TraversedRelation' },
)
export type TraversedRelation = Static<typeof TraversedRelation>

const ConceptAlias = Type.Object(
  { id: Type.String(), alias: Type.String(), normalized_alias: Type.String(), origin: NamingOrigin },
  { $id: 'ConceptAlias' },
)

/** The name of a concept in one language. */
const ConceptLabel = Type.Object(
  {
    locale: Type.String({ description: 'BCP 47' }),
    name: Type.String(),
    description: Nullable(Type.String()),
    origin: NamingOrigin,
    created_by: UserId,
    created_at: Time,
    updated_at: Time,
  },
  { $id: 'ConceptLabel' },
)

/** A concept that was merged into another concept. */
export const ConceptMerge = Type.Object(
  {
    concept_id: Type.String(),
    name: Type.String(),
    merged_at: Time,
    merged_by: UserId,
    reason: Nullable(Type.String()),
  },
  { $id: 'ConceptMerge' },
)
export type ConceptMerge = Static<typeof ConceptMerge>

const conceptMembers = {
  id: Type.String(),
  uri: Type.String({ description: 'svc://concept/{id}' }),
  knowledge_base_id: IntegerId,
  name: Type.String(),
  normalized_name: Type.String(),
  description: Nullable(Type.String()),
  aliases: Type.Array(Type.String()),
  alias_objects: Type.Array(ConceptAlias),
  labels: Type.Array(ConceptLabel),
  status: ConceptStatus,
  version: ConceptVersion,
  canonical_document_id: Nullable(Type.String()),
  merged_into_concept_id: Nullable(Type.String()),
  created_at: Time,
  updated_at: Time,
}

/** A concept as lists show it, without relations and merge history. */
export const ConceptSummary = Type.Object(conceptMembers, { $id: 'ConceptSummary' })
export type ConceptSummary = Static<typeof ConceptSummary>

const detailMembers = {
  ...conceptMembers,
  requested_id: Type.Optional(Type.String({ description: 'the id of a merged concept that was asked for' })),
  relations: Type.Array(ConceptRelation, { description: 'outgoing, whenever they are valid' }),
  merge_history: Type.Array(ConceptMerge, { description: 'what was merged into this concept, oldest first' }),
}

/** A concept of the vocabulary that people maintain (api/guide/concepts.md#names). */
export const Concept = Type.Object(detailMembers, { $id: 'Concept' })
export type Concept = Static<typeof Concept>

/** A concept to which a request has just added evidence or a relation, with the id of that relation. */
export const ConceptWithRelation = Type.Object(
  { ...detailMembers, relation_id: Type.String({ description: 'the relation that was added or refreshed' }) },
  { $id: 'ConceptWithRelation' },
)
export type ConceptWithRelation = Static<typeof ConceptWithRelation>
