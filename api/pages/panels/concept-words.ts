import type { ConceptCandidate } from '../../../shared/concepts/candidates/schema.ts'
import type { NamedConcept } from '../../../shared/concepts/queries.ts'
import type { ConceptEvidence, ConceptRelation } from '../../../shared/concepts/schema.ts'
import { cutText } from '../../../shared/schema/strings.ts'
import { type Moment, momentOf } from '../render.ts'

// How many aliases of a concept, and how many code points of its description, a panel shows.
const shownAliases = 10
const shownDescription = 300

/** The states of candidates that a panel lists, in the order of its links. */
export const reviewStatuses = ['pending', 'accepted', 'rejected'] as const
export type ReviewStatus = (typeof reviewStatuses)[number]

/** A candidate as a panel shows it. */
export type CandidateLine = {
  id: string
  version: string
  name: string
  /** Whether the candidate was found in the title, and not in the text of a link. */
  isTitle: boolean
  excerpt: string
  href: string
  place: string[]
  /** Why the candidate cannot be accepted at the moment; null for a candidate of the current text. */
  lag: string | null
  /** An active concept of the same name, which the candidate can be added to. */
  suggested: { id: string; name: string } | null
  /** The name of the concept that an accepted candidate became. */
  concept: string | null
  reviewed: Moment | null
}

/** A piece of evidence of a concept in the document. */
type EvidenceLine = { href: string; place: string[]; excerpt: string | null; lag: string | null }

/** A concept with its evidence in the document. `hasMore` says that more evidence is there. */
export type ConceptLine = {
  name: string
  description: string | null
  aliases: string[]
  /** Whether the document is the main document of the concept. */
  isCanonical: boolean
  evidence: EvidenceLine[]
  hasMore: boolean
}

/** Puts a candidate into the words of a panel. `names` has concepts, `places` has sections by the ids of blocks. */
export function candidateLine(
  candidate: ConceptCandidate,
  known: { names: ReadonlyMap<string, string>; places: ReadonlyMap<string, string[]> },
): CandidateLine {
  const { id, version, name, extractor, excerpt, document_id, block_id, freshness, reviewed_at } = candidate
  const suggested = candidate.suggested_concept_id
  return {
    id,
    version,
    name,
    isTitle: extractor === 'title',
    excerpt,
    href: addressOf(document_id, block_id),
    place: known.places.get(block_id ?? '') ?? [],
    lag: lagOfCandidate[freshness],
    suggested:
      suggested === null ? null : { id: suggested, name: known.names.get(suggested) ?? 'the concept of this name' },
    concept: known.names.get(candidate.concept_id ?? '') ?? null,
    reviewed: reviewed_at === null ? null : momentOf(reviewed_at),
  }
}

const lagOfCandidate: Record<ConceptCandidate['freshness'], string | null> = {
  current: null,
  stale: 'The text has changed since. It is being looked through again.',
  dangling_block: 'The block in which it was found is gone.',
  dangling_document: 'The document in which it was found is gone.',
}

/** Puts a concept and its evidence in a document into the words of a panel. */
export function conceptLine(
  { name, description, alias_objects, canonical_document_id }: NamedConcept,
  known: {
    documentId: string
    relations: readonly ConceptRelation[]
    places: ReadonlyMap<string, string[]>
    shownEvidence: number
  },
): ConceptLine {
  const { documentId, relations, places, shownEvidence } = known
  const evidence = relations.flatMap(({ evidence }) => (evidence === null ? [] : [evidence]))
  return {
    name,
    description: description === null ? null : shortened(description),
    aliases: alias_objects.slice(0, shownAliases).map(({ alias }) => alias),
    isCanonical: canonical_document_id === documentId,
    evidence: evidence.slice(0, shownEvidence).map(({ block_id, excerpt, freshness }) => ({
      href: addressOf(documentId, block_id),
      place: places.get(block_id ?? '') ?? [],
      excerpt,
      lag: lagOfEvidence[freshness],
    })),
    hasMore: evidence.length > shownEvidence,
  }
}

const lagOfEvidence: Record<ConceptEvidence['freshness'], string | null> = {
  current: null,
  stale: 'The document has changed since.',
  unanchored: 'It is not known which text was meant.',
  dangling_evidence_document: 'The document of the evidence is gone.',
  dangling_evidence_block: 'The block of the evidence is gone.',
  dangling_document: 'What the concept is related to is gone.',
  dangling_block: 'The block that the concept is related to is gone.',
}

function shortened(text: string): string {
  const start = cutText(text, shownDescription)
  return start === text ? text : `${start}…`
}

function addressOf(documentId: string, blockId: string | null): string {
  return `/d/${documentId}${blockId === null ? '' : `#${blockId}`}`
}
