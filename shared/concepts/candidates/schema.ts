import Type, { type Static } from 'typebox'
import { IntegerId, Nullable, Time, UserId, Version } from '../../schema/identifiers.ts'
import { Text } from '../../schema/strings.ts'
import { Concept } from '../schema.ts'

/** The part of a document in which a candidate was found. */
export const Extractor = Type.Enum(['title', 'link_anchor'])
export type Extractor = Static<typeof Extractor>

/** The state of a candidate's review. */
export const ReviewStatus = Type.Enum(['pending', 'accepted', 'rejected'])
export type ReviewStatus = Static<typeof ReviewStatus>

/**
 * A term that was found in a document, and of which a reviewer may make a concept (api/guide/concepts.md#candidates).
 */
export const ConceptCandidate = Type.Object(
  {
    id: Type.String(),
    knowledge_base_id: IntegerId,
    name: Type.String(),
    normalized_name: Type.String(),
    document_id: Type.String(),
    block_id: Nullable(Type.String()),
    source_version: Version,
    current_version: Nullable(Version),
    excerpt: Type.String(),
    freshness: Type.Enum(['current', 'stale', 'dangling_document', 'dangling_block']),
    extractor: Extractor,
    extractor_version: Type.String(),
    fingerprint: Type.String({ description: 'of document, block, extractor, its version and the normalised name' }),
    review_status: ReviewStatus,
    reviewed_at: Nullable(Time),
    reviewed_by: UserId,
    review_reason: Nullable(Type.String()),
    concept_id: Nullable(Type.String({ description: 'what it was accepted as' })),
    suggested_concept_id: Nullable(
      Type.String({ description: 'an active concept that has the name as its name or alias' }),
    ),
    version: Type.String({ pattern: '^candidate:[1-9][0-9]*$', description: 'candidate:n' }),
    created_at: Time,
    updated_at: Time,
  },
  { $id: 'ConceptCandidate' },
)
export type ConceptCandidate = Static<typeof ConceptCandidate>

/** Body of `POST /concept-candidates/extract`. */
export const ExtractInput = Type.Object({ document_id: Text() }, { $id: 'ExtractInput' })

/** The result of an extraction. Candidates that were rejected or accepted before are not proposed again. */
export const Extraction = Type.Object(
  {
    document_id: Type.String(),
    source_version: Version,
    extractor_version: Type.String(),
    created: Type.Integer({ minimum: 0 }),
    refreshed: Type.Integer({ minimum: 0 }),
    skipped_rejected: Type.Integer({ minimum: 0 }),
    skipped_accepted: Type.Integer({ minimum: 0 }),
    candidates: Type.Array(ConceptCandidate, { description: 'those created and refreshed' }),
  },
  { $id: 'Extraction' },
)

const reason = Type.Optional(Text({ max: 1000 }))

/** Body of `POST /concept-candidates/{id}/accept`. Without `concept_id` the candidate becomes a new concept. */
export const CandidateAcceptInput = Type.Object(
  { concept_id: Type.Optional(Text({ description: 'an active concept to fold the candidate into' })), reason },
  { $id: 'CandidateAcceptInput' },
)

/** Body of `POST /concept-candidates/{id}/reject`. */
export const CandidateRejectInput = Type.Object({ reason }, { $id: 'CandidateRejectInput' })

/** An accepted candidate and the concept that it became or joined. */
export const AcceptedCandidate = Type.Object(
  { candidate: ConceptCandidate, concept: Concept },
  { $id: 'AcceptedCandidate' },
)
