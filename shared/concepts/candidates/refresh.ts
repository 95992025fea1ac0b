import type { Queryable, Transaction } from '../../database/database.ts'
import { type DocumentSource, loadSource } from '../../jobs/projections/queries.ts'
import type { DocumentJob } from '../../jobs/queues.ts'
import { extractCandidates, type FoundCandidate } from './extract.ts'
import {
  extractedSeq,
  insertCandidates,
  type KnownCandidate,
  lockKnown,
  recordExtraction,
  refreshCandidates,
  retireCandidates,
} from './extraction-queries.ts'

/** A document as the extractor reads it. */
export type CandidateSource = DocumentSource & { body: string; projected_seq: number | null }

/** Reads what candidates of a document are made from; null when the document is gone. */
export async function loadCandidateSource(db: Queryable, job: DocumentJob): Promise<CandidateSource | null> {
  const projected_seq = await extractedSeq(db, job)
  const source = await loadSource(db, job)
  return source && { ...source, projected_seq }
}

/** What is found in a loaded document. */
export function findCandidates(source: CandidateSource, job: DocumentJob): FoundCandidate[] {
  return extractCandidates({ documentId: job.document_id, title: source.title, text: source.body })
}

/** How many of the found candidates were new, pending before, or reviewed before. */
export type ExtractionCounts = {
  created: number
  refreshed: number
  skipped_rejected: number
  skipped_accepted: number
}

/**
 * Writes what was found: new candidates are pending, pending ones are brought up to the source, reviewed ones are left
 * as they are. The caller holds the document, so that the source cannot move.
 */
export async function writeCandidates(
  tx: Transaction,
  job: DocumentJob,
  derived: { source: CandidateSource; result: FoundCandidate[] },
): Promise<ExtractionCounts> {
  const { source, result: found } = derived
  await recordExtraction(tx, job, source.body_seq)
  const known = new Map((await lockKnown(tx, job, found)).map((one) => [one.fingerprint, one]))
  const created = found.filter(({ fingerprint }) => !known.has(fingerprint))
  const ofStatus = (status: KnownCandidate['review_status']) =>
    found.filter(({ fingerprint }) => known.get(fingerprint)?.review_status === status)
  const refreshed = ofStatus('pending')
  const sourceVersion = source.version
  if (refreshed.length > 0) await refreshCandidates(tx, job, { found: refreshed, sourceVersion })
  if (created.length > 0) await insertCandidates(tx, job, { found: created, sourceVersion })
  await retireCandidates(tx, job, found)
  return {
    created: created.length,
    refreshed: refreshed.length,
    skipped_rejected: ofStatus('rejected').length,
    skipped_accepted: ofStatus('accepted').length,
  }
}
