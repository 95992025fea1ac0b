import Type, { type Static } from 'typebox'
import { sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { type ProjectionInput, projectionComputation } from '../../jobs/projections/computation.ts'
import type { LoadedSource } from '../../jobs/projections/queries.ts'
import type { DocumentJob } from '../../jobs/queues.ts'
import { newId } from '../../schema/ids.ts'
import { extractCandidates, extractorVersion, type FoundCandidate } from './extract.ts'
import { ReviewStatus } from './schema.ts'

/** Finds the candidates of the document of a job. A thread calls this function by its name. @public */
export function findCandidates({ source, job }: ProjectionInput<LoadedSource>): FoundCandidate[] {
  return extractCandidates({ documentId: job.document_id, title: source.title, text: source.body })
}

/** Computes the concept candidates of a document. */
export const extracting = projectionComputation({
  module: import.meta.url,
  run: findCandidates,
  length: ({ body }) => body.length,
})

/** The numbers of found candidates that were new, already pending, or already reviewed. */
export type ExtractionCounts = {
  created: number
  refreshed: number
  skipped_rejected: number
  skipped_accepted: number
}

/**
 * Writes the candidates that were found in a document. New candidates become pending. Pending candidates that were
 * found again get the version, name and excerpt of the current source. Pending candidates that were not found are
 * marked as missing, and are deleted after a day. Reviewed candidates stay unchanged. The caller has locked the row of
 * the document, so that its source cannot change.
 */
export async function writeCandidates(
  tx: Transaction,
  job: DocumentJob,
  derived: { source: LoadedSource; result: FoundCandidate[] },
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
  const inserted = created.length > 0 ? await insertCandidates(tx, job, { found: created, sourceVersion }) : []
  await retireCandidates(tx, job, found)
  return {
    created: inserted.length,
    refreshed: refreshed.length,
    skipped_rejected: ofStatus('rejected').length,
    skipped_accepted: ofStatus('accepted').length,
  }
}

// Notes the `body_seq` of an extraction. From then on the worker refreshes the candidates of the document. Other
// extractions of the document wait for the row until the transaction ends.
async function recordExtraction(tx: Transaction, job: DocumentJob, bodySeq: number): Promise<void> {
  await tx.query(sql.unsafe`
    INSERT INTO concept_extractions (workspace_id, document_id, body_seq)
    VALUES (${job.workspace_id}, ${job.document_id}, ${bodySeq})
    ON CONFLICT (workspace_id, document_id) DO UPDATE SET body_seq = excluded.body_seq, extracted_at = now()`)
}

const KnownShape = Type.Object({ fingerprint: Type.String(), review_status: ReviewStatus })

type KnownCandidate = Static<typeof KnownShape>

// Returns which of the fingerprints the document has already, with the review status of their candidates. The
// candidates are locked in id order against reviews.
function lockKnown(
  tx: Transaction,
  job: DocumentJob,
  found: readonly FoundCandidate[],
): Promise<readonly KnownCandidate[]> {
  return tx.any(sql.type(row(KnownShape))`
    SELECT fingerprint, review_status FROM concept_candidates
    WHERE workspace_id = ${job.workspace_id} AND fingerprint = ANY(${fingerprintsOf(found)})
    ORDER BY id FOR UPDATE`)
}

// Inserts candidates and returns their ids. What comes back from the trash at the same moment stays as it is.
function insertCandidates(
  tx: Transaction,
  job: DocumentJob,
  input: { found: readonly FoundCandidate[]; sourceVersion: string },
): Promise<readonly string[]> {
  const rows = input.found.map((candidate) => ({ ...candidate, id: newId('cand') }))
  return tx.anyFirst(sql.type(row(Type.Object({ id: Type.String() })))`
    INSERT INTO concept_candidates
      (workspace_id, id, document_id, block_id, name, normalized_name, excerpt, extractor, extractor_version,
       fingerprint, source_version)
    SELECT ${job.workspace_id}, n.id, ${job.document_id}, n.block_id, n.name, n.normalized_name, n.excerpt, n.extractor,
      ${extractorVersion}, n.fingerprint, ${input.sourceVersion}
    FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS n
      (id text, block_id text, name text, normalized_name text, excerpt text, extractor text, fingerprint text)
    ON CONFLICT (workspace_id, fingerprint) DO NOTHING
    RETURNING id`)
}

// Updates pending candidates that were found again; a candidate whose values stay the same keeps its version.
async function refreshCandidates(
  tx: Transaction,
  job: DocumentJob,
  input: { found: readonly FoundCandidate[]; sourceVersion: string },
): Promise<void> {
  await tx.query(sql.unsafe`
    UPDATE concept_candidates c SET source_version = ${input.sourceVersion}, name = n.name, excerpt = n.excerpt,
      missing_since = NULL, version = c.version + 1, updated_at = greatest(clock_timestamp(), c.updated_at)
    FROM jsonb_to_recordset(${JSON.stringify(input.found)}::jsonb) AS n (fingerprint text, name text, excerpt text)
    WHERE c.workspace_id = ${job.workspace_id} AND c.fingerprint = n.fingerprint AND c.review_status = 'pending'
      AND (c.source_version <> ${input.sourceVersion} OR c.name <> n.name OR c.excerpt <> n.excerpt
        OR c.missing_since IS NOT NULL)`)
}

// Notes which pending candidates of the document are missing, and deletes candidates that have been missing for a day.
// Until then, whoever reviews such a candidate learns that its source has changed.
async function retireCandidates(tx: Transaction, job: DocumentJob, found: readonly FoundCandidate[]): Promise<void> {
  await tx.query(sql.unsafe`
    DELETE FROM concept_candidates
    WHERE workspace_id = ${job.workspace_id} AND pending_document_id = ${job.document_id}
      AND missing_since < now() - interval '1 day' AND fingerprint <> ALL(${fingerprintsOf(found)})`)
  await tx.query(sql.unsafe`
    UPDATE concept_candidates SET missing_since = now()
    WHERE workspace_id = ${job.workspace_id} AND pending_document_id = ${job.document_id}
      AND missing_since IS NULL AND fingerprint <> ALL(${fingerprintsOf(found)})`)
}

function fingerprintsOf(found: readonly FoundCandidate[]) {
  return sql.array(
    found.map(({ fingerprint }) => fingerprint),
    'text',
  )
}
