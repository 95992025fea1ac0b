import { type Caller, requireWriter, visibleWorkspaces } from '../../auth/caller.ts'
import type { Transaction } from '../../database.ts'
import { visibleDocument } from '../../documents/queries.ts'
import { Refusal } from '../../errors.ts'
import { lockSource, markCurrent } from '../../projections/queries.ts'
import { extractorVersion } from './extract.ts'
import { presentCandidates } from './present.ts'
import { pendingCandidates } from './queries.ts'
import { findCandidates, loadExtractionSource, writeCandidates } from './refresh.ts'

/**
 * Extracts the candidates of a document at once, in the caller's transaction, which keeps the document from moving;
 * from then on the worker keeps them up to date. 404 when the document is not visible.
 */
export async function extractDocument(tx: Transaction, input: { documentId: string; caller: Caller }) {
  const { documentId, caller } = input
  const document = await visibleDocument(tx, { documentId, workspaceIds: visibleWorkspaces(caller) })
  if (document === null) throw missing(documentId)
  const workspaceId = document.workspace_id
  requireWriter(caller, workspaceId)
  const job = { workspace_id: workspaceId, document_id: documentId }
  const held = await lockSource(tx, job)
  const source = held && (await loadExtractionSource(tx, job))
  if (source === null) throw missing(documentId)
  const found = findCandidates(source, job)
  const counts = await writeCandidates(tx, job, { source, result: found })
  await markCurrent(tx, { projection: 'candidates', jobs: [job] })
  const fingerprints = found.map(({ fingerprint }) => fingerprint)
  const rows = await pendingCandidates(tx, { workspaceId, documentId, fingerprints })
  return {
    workspaceId,
    extraction: {
      document_id: documentId,
      source_version: source.version,
      extractor_version: extractorVersion,
      ...counts,
      candidates: await presentCandidates(tx, rows),
    },
  }
}

function missing(id: string): Refusal {
  return new Refusal('document_not_found', { details: { id, field: 'document_id' } })
}
