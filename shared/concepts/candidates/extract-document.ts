import { type Caller, requireWriter } from '../../auth/caller.ts'
import type { Ahead } from '../../computations/ahead.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { documentNotFound, requireDocument } from '../../documents/require.ts'
import { loadSource, lockSource, markCurrent } from '../../jobs/projections/queries.ts'
import type { DocumentJob } from '../../jobs/queues.ts'
import { candidateExtraction, extractorVersion } from './extract.ts'
import { presentCandidates } from './present.ts'
import { pendingCandidates } from './queries.ts'
import { writeCandidates } from './refresh.ts'

type Extracting = { documentId: string; caller: Caller }

/**
 * Stores the candidates of a document in the caller's transaction; from then on the worker keeps them up to date.
 * Refuses with 404 `document_not_found` and, when the role may not write, with 403.
 */
export async function extractFromDocument({ tx, ahead }: { tx: Transaction; ahead: Ahead }, input: Extracting) {
  const job = await findWritableDocument(tx, input)
  const locked = await lockSource(tx, job)
  const current = locked && (await loadSource(tx, job))
  if (current === null) throw documentNotFound(input.documentId, 'document_id')
  const { title, body: text } = current
  const found = await ahead.result(candidateExtraction, { documentId: input.documentId, title, text })
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
