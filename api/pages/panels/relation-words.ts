import type { DocumentRelation, Predicate } from '../../../shared/relations/schema.ts'
import { cutText } from '../../../shared/schema/strings.ts'
import type { BlockText } from '../../../shared/search/block-texts.ts'
import { type Moment, momentOf } from '../render.ts'

/** One end of a relation. `title` and `href` are null when the document is gone or this person may not see it. */
type RelationEnd = {
  title: string | null
  href: string | null
  /** Whether the end is the document and none of its blocks. */
  isWhole: boolean
  headingPath: string[]
  text: string | null
}

/** A relation as a panel shows it, seen from the document of the panel. */
export type RelationLine = {
  id: string
  words: string
  isByHand: boolean
  note: string
  here: RelationEnd
  there: RelationEnd
  /** What is missing, null for a relation with both ends. */
  problem: string | null
  /** Why the relation may not follow from the current texts, null for a relation that does. */
  lag: string | null
  recorded: Moment
}

/** What a relation says about its target. */
export const wordsOfPredicate: Record<Predicate, string> = {
  refers_to: 'refers to',
  supports: 'supports',
  depends_on: 'depends on',
  contradicts: 'contradicts',
}

const inverseWords: Record<Predicate, string> = {
  refers_to: 'referred to by',
  supports: 'supported by',
  depends_on: 'required by',
  contradicts: 'contradicted by',
}

/** Puts a relation into the words of a panel. `texts` has the texts of blocks by their addresses. */
export function relationLine(
  relation: DocumentRelation,
  { direction, texts }: { direction: 'outgoing' | 'incoming'; texts: ReadonlyMap<string, BlockText> },
): RelationLine {
  const { predicate, origin, source, target, anchor_text: note } = relation
  const isOutgoing = direction === 'outgoing'
  const [here, there] = isOutgoing ? [source, target] : [target, source]
  return {
    id: relation.id,
    words: (isOutgoing ? wordsOfPredicate : inverseWords)[predicate],
    isByHand: origin === 'manual',
    note,
    here: shortened(endOf(here, texts)),
    there: endOf(there, texts),
    problem: problems[relation.status],
    lag: lagOf(relation),
    recorded: momentOf(relation.created_at),
  }
}

const problems: Record<DocumentRelation['status'], string | null> = {
  valid: null,
  dangling_source_document: 'The document that it comes from is gone.',
  dangling_source_block: 'The block that it comes from is gone.',
  dangling_target_document: 'The document that it leads to is gone, or you may not see it.',
  dangling_target_block: 'The block that it leads to is gone.',
}

function lagOf({ origin, evidence_freshness, projection_freshness }: DocumentRelation): string | null {
  if (projection_freshness === 'stale') return 'The links of its source are being read again.'
  if (evidence_freshness === 'current') return null
  return origin === 'manual' ? 'Its source has been changed since it was added.' : 'Its source has been changed since.'
}

// The document of the panel is beside its relations, so a few words show which block is meant.
function shortened(end: RelationEnd): RelationEnd {
  const start = cutText(end.text ?? '', 80)
  return end.text === null || start === end.text ? end : { ...end, text: `${start}…` }
}

function endOf(end: DocumentRelation['source'], texts: ReadonlyMap<string, BlockText>): RelationEnd {
  const { document_id: documentId, block_id: blockId, document } = end
  const { headingPath = [], text = null } = texts.get(end.uri) ?? {}
  const address = `/d/${documentId}${blockId === null ? '' : `#${blockId}`}`
  const isWhole = blockId === null
  return { title: document?.title ?? null, href: document === null ? null : address, isWhole, headingPath, text }
}
