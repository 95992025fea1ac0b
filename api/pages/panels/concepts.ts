import { extractFromDocument } from '../../../shared/concepts/candidates/extract-document.ts'
import { freshnessOfCandidates } from '../../../shared/concepts/candidates/freshness.ts'
import { presentCandidates } from '../../../shared/concepts/candidates/present.ts'
import {
  type CandidateRow,
  candidatePage,
  findCandidate,
  missingCandidate,
} from '../../../shared/concepts/candidates/queries.ts'
import { acceptCandidate, type ReviewRequest, rejectCandidate } from '../../../shared/concepts/candidates/review.ts'
import type { ConceptCandidate } from '../../../shared/concepts/candidates/schema.ts'
import { presentTraversed } from '../../../shared/concepts/present.ts'
import { conceptNames, conceptPage, nameStartLength } from '../../../shared/concepts/queries.ts'
import { relationsWithEvidenceIn } from '../../../shared/concepts/relation-queries.ts'
import { inSnapshot, type Queryable, type Transaction } from '../../../shared/database/database.ts'
import type { DocumentRow } from '../../../shared/documents/queries.ts'
import { cutText } from '../../../shared/schema/strings.ts'
import { blockTexts } from '../../../shared/search/block-texts.ts'
import { decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
import { versionGuard } from '../../http/version-guard.ts'
import { actionOf } from '../form-refusal.ts'
import type { Form } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { view } from '../render.ts'
import { writeOnce } from '../write-once.ts'
import {
  type CandidateLine,
  type ConceptLine,
  candidateLine,
  conceptLine,
  type ReviewStatus,
  reviewStatuses,
} from './concept-words.ts'
import { type PanelCall, panelPage } from './frame.ts'
import { readOnlyWords } from './refusal-words.ts'

// The endpoint that the cursors of the lists belong to.
const endpoint = 'panel of concepts'
// How many candidates and how many concepts a page shows, and how many pieces of evidence of one concept.
const shownAtOnce = 25
const shownEvidence = 5

/** A page of a list. `cursor` is the position of the page, null for the first page. */
type Shown<Line> = { lines: Line[]; cursor: string | null; next: string | null }

type ConceptsData = {
  address: string
  documentId: string
  csrfToken: string
  mayWrite: boolean
  /** What was done just now, and what was refused; null for nothing. */
  done: string | null
  problem: string | null
  freshness: 'current' | 'stale' | 'missing'
  status: ReviewStatus
  statuses: readonly ReviewStatus[]
  candidates: Shown<CandidateLine>
  concepts: Shown<ConceptLine>
}

const conceptsView = view<ConceptsData>('concepts-panel')

/**
 * The candidates of a document, to accept or to reject, and the concepts that have evidence in the document
 * (api/guide/concepts.md#candidates).
 */
export const conceptsPanel = panelPage({
  name: 'concepts',
  async show(call, refused) {
    const { service, request, csrfToken, document, mayWrite, query } = call
    const status = reviewStatuses.find((known) => known === query.get('status')) ?? 'pending'
    // One snapshot, so that the freshness is that of the lists.
    const { freshness, candidates, concepts } = await inSnapshot(service.database, async (db) => ({
      freshness: await freshnessOfCandidates(db, document),
      candidates: await candidatesOf(db, { call, status }),
      concepts: await conceptsOf(db, call),
    }))
    const html = conceptsView({
      title: 'Concepts',
      address: request.path,
      documentId: document.id,
      csrfToken,
      mayWrite,
      done: done.get(query.get('done') ?? '') ?? null,
      problem: refused?.problem ?? null,
      freshness,
      status,
      statuses: reviewStatuses,
      candidates,
      concepts,
    })
    return { html, isPending: freshness === 'stale' }
  },
  async write(call, submitted) {
    const operation = submitted.field('operation')
    await actionOf(writes, operation)(call, submitted)
    const candidates = submitted.field('candidates')
    const told = { done: operation }
    return `${call.request.path}?${new URLSearchParams(candidates === '' ? told : { candidates, ...told })}`
  },
  reasons: {
    candidate_not_found: 'This candidate is no longer there, because its text has changed.',
    candidate_already_reviewed: 'Somebody has reviewed this candidate already. Nothing has been changed.',
    candidate_source_changed:
      'The text has changed since this candidate was found. Wait until the text has been looked at again, then decide.',
    version_conflict: 'This candidate has changed since you saw it. Look at it as it is now, then decide again.',
    concept_name_conflict: 'A concept of this name exists already. Add the candidate to that concept.',
    concept_not_found: 'That concept no longer exists. Nothing has been changed.',
    concept_not_active: 'That concept was put away or merged meanwhile. Nothing has been changed.',
    cross_knowledge_base: 'That concept belongs to another knowledge base.',
    forbidden: readOnlyWords,
  },
})

type Write = (call: PanelCall, submitted: Form) => Promise<void>

// What the forms of the panel can ask for, by the value of their field `operation`.
const writes: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['extract', extract],
  ['accept', (call, submitted) => accept(call, { submitted, conceptId: undefined })],
  ['join', (call, submitted) => accept(call, { submitted, conceptId: submitted.field('concept') })],
  ['reject', reject],
])

const done = new Map([
  ['accept', 'The candidate is a concept now.'],
  ['join', 'The candidate was added to the concept.'],
  ['reject', 'The candidate was rejected. It will not be proposed again.'],
  ['extract', 'The text was looked through. It is looked through again after every change.'],
])

function extract(call: PanelCall): Promise<void> {
  const documentId = call.document.id
  return pageWrite(call, async ({ tx, ahead, caller }) => {
    await extractFromDocument({ tx, ahead }, { documentId, caller })
    await recordPageWrite(tx, { call, action: 'extractConceptCandidates', documentIds: [documentId] })
  })
}

// Makes a concept of the candidate, or adds the candidate to the concept of this id.
function accept(
  call: PanelCall,
  { submitted, conceptId }: { submitted: Form; conceptId: string | undefined },
): Promise<void> {
  return review(call, { submitted, action: 'acceptConceptCandidate' }, async (tx, request) => {
    await acceptCandidate(tx, { ...request, conceptId })
  })
}

function reject(call: PanelCall, submitted: Form): Promise<void> {
  return review(call, { submitted, action: 'rejectConceptCandidate' }, rejectCandidate)
}

// Reviews a candidate of the document. The version is the version that the person has seen.
async function review(
  call: PanelCall,
  { submitted, action }: { submitted: Form; action: string },
  decide: (tx: Transaction, request: ReviewRequest) => Promise<void>,
): Promise<void> {
  const guard = versionGuard({ required: true, tags: [submitted.field('version')] })
  await writeOnce(call, { form: submitted }, async ({ tx, caller }) => {
    const id = submitted.field('candidate')
    const { document_id } = await findCandidate(tx, { caller, id })
    if (document_id !== call.document.id) throw missingCandidate(id)
    await decide(tx, { id, caller, reason: null, guard })
    await recordPageWrite(tx, { call, action, documentIds: [document_id] })
    return id
  })
}

async function candidatesOf(
  db: Queryable,
  { call, status }: { call: PanelCall; status: ReviewStatus },
): Promise<Shown<CandidateLine>> {
  const { document, query } = call
  const { workspace_id: workspaceId, id: documentId, knowledge_base_id: knowledgeBaseId } = document
  const cursor = query.get('candidates') ?? undefined
  const scope = { endpoint, filters: { documentId, status }, sort: 'id' }
  const [id] = cursor === undefined ? [] : decodeCursor(scope, cursor, ['string'])
  const after = id === undefined ? null : { documentId, id: String(id) }
  const filter = { workspaceId, knowledgeBaseId, documentId, status, after, limit: shownAtOnce }
  const rows = await candidatePage(db, filter)
  const next = (last: CandidateRow) => encodeCursor(scope, [last.id])
  const { data, page } = pageOf({ rows, limit: shownAtOnce, cursor, next })
  const candidates = await presentCandidates(db, data)
  const names = await conceptNames(db, { workspaceId, ids: candidates.flatMap(namedConcepts) })
  const places = await placesOf(db, { document, found: candidates })
  const lines = candidates.map((candidate) => candidateLine(candidate, { names, places }))
  return { lines, cursor: page.cursor, next: page.next_cursor }
}

function namedConcepts({ suggested_concept_id, concept_id }: ConceptCandidate): string[] {
  return [suggested_concept_id, concept_id].filter((id) => id !== null)
}

async function conceptsOf(db: Queryable, { document, query }: PanelCall): Promise<Shown<ConceptLine>> {
  const { workspace_id: workspaceId, id: documentId, knowledge_base_id: knowledgeBaseId } = document
  const cursor = query.get('concepts') ?? undefined
  const scope = { endpoint, filters: { documentId }, sort: 'name' }
  const [nameStart, id] = cursor === undefined ? [] : decodeCursor(scope, cursor, ['string', 'string'])
  const after = id === undefined ? null : { nameStart: String(nameStart), id: String(id) }
  const filter = { workspaceId, knowledgeBaseId, status: 'active', documentId, after, limit: shownAtOnce } as const
  const rows = await conceptPage(db, filter)
  const next = (last: { name: string; id: string }) =>
    encodeCursor(scope, [cutText(last.name, nameStartLength), last.id])
  const { data, page } = pageOf({ rows, limit: shownAtOnce, cursor, next })
  const conceptIds = data.map((concept) => concept.id)
  const evidence = { workspaceId, documentId, conceptIds, limit: shownEvidence + 1 }
  const relations = conceptIds.length === 0 ? [] : await relationsWithEvidenceIn(db, evidence)
  const presented = await presentTraversed(db, {
    concept: { workspace_id: workspaceId },
    relations,
    at: Date.now(),
  })
  const found = presented.map((relation) => ({ block_id: relation.evidence?.block_id ?? null }))
  const places = await placesOf(db, { document, found })
  const ofConcept = Map.groupBy(presented, ({ subject_concept_id }) => subject_concept_id)
  const lines = data.map((concept) =>
    conceptLine(concept, { documentId, relations: ofConcept.get(concept.id) ?? [], places, shownEvidence }),
  )
  return { lines, cursor: page.cursor, next: page.next_cursor }
}

// The titles of the sections around blocks of the document, by the ids of the blocks.
async function placesOf(
  db: Queryable,
  { document, found }: { document: DocumentRow; found: readonly { block_id: string | null }[] },
): Promise<ReadonlyMap<string, string[]>> {
  const documentId = document.id
  const blocks = found.flatMap(({ block_id: blockId }) => (blockId === null ? [] : [{ documentId, blockId }]))
  const texts = await blockTexts(db, { workspaceIds: [document.workspace_id], blocks })
  return new Map(texts.map(({ blockId, headingPath }) => [blockId, headingPath]))
}
