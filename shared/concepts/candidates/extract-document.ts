import { type Caller, requireWriter } from '../../auth/caller.ts'
import { compute } from '../../computations/compute.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { documentNotFound, requireDocument } from '../../documents/require.ts'
import { lockSource, markCurrent } from '../../jobs/projections/queries.ts'
import type { DocumentJob } from '../../jobs/queues.ts'
import { candidateExtraction, extractorVersion, type FoundCandidate } from './extract.ts'
import { presentCandidates } from './present.ts'
import { pendingCandidates } from './queries.ts'
import { type CandidateSource, loadCandidateSource, writeCandidates } from './refresh.ts'

type Extracting = { documentId: string; caller: Caller }

/** A document as it was loaded, and the candidates that were found in it. */
export type FoundInDocument = { source: CandidateSource; found: FoundCandidate[] }

/**
 * Finds the candidates of a document without a lock. A large document is searched in a thread, in fair turns. Refuses
 * with 404 `document_not_found` and, when the role may not write, with 403.
 */
export async function findInDocument(db: Queryable, input: Extracting): Promise<FoundInDocument> {
  const job = await findWritableDocument(db, input)
  return extracted(job, await loadCandidateSource(db, job))
}

/**
 * Stores the candidates of a document in the caller's transaction; from then on the worker keeps them up to date.
 * `ahead` returns what was found before the transaction. If the document has changed since then, it is searched again
 * under a lock. Refuses with 404 `document_not_found`.
 */
export async function extractFromDocument(
  tx: Transaction,
  { ahead, ...input }: Extracting & { ahead: () => FoundInDocument },
) {
  const job = await findWritableDocument(tx, input)
  const locked = await lockSource(tx, job)
  const source = locked && (await loadCandidateSource(tx, job))
  const known = ahead()
  const isCurrent = source?.version === known.source.version && source.title === known.source.title
  const { found, source: current } = isCurrent ? { found: known.found, source } : await extracted(job, source)
  const counts = await writeCandidates(tx, job, { source: current, result: found })
  await markCurrent(tx, { projection: 'candidates', jobs: [job] })
  const fingerprints = found.map(({ fingerprint }) => fingerprint)
  const { workspace_id: workspaceId, document_id: documentId } = job
  const rows = await pendingCandidates(tx, { workspaceId, documentId, fingerprints })
  return {
    workspaceId,
    extraction: {
      document_id: documentId,
      source_version: current.version,
      extractor_version: extractorVersion,
      ...counts,
      candidates: await presentCandidates(tx, rows),
    },
  }
}

async function findWritableDocument(db: Queryable, { documentId, caller }: Extracting): Promise<DocumentJob> {
  const document = await requireDocument(db, { caller, documentId, field: 'document_id' })
  requireWriter(caller, document.workspace_id)
  return { workspace_id: document.workspace_id, document_id: documentId }
}

async function extracted(
  { document_id: documentId }: DocumentJob,
  source: CandidateSource | null,
): Promise<FoundInDocument> {
  if (source === null) throw documentNotFound(documentId, 'document_id')
  return { source, found: await compute(candidateExtraction, { documentId, title: source.title, text: source.body }) }
}
