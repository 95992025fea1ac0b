import type { Transaction } from '../database/database.ts'
import { eventDocument } from '../documents/present.ts'
import { type DocumentRow, insertDocuments, type NewDocument } from '../documents/queries.ts'
import { recordEvents } from '../events/record.ts'
import { markStale } from '../jobs/projections/stale.ts'
import type { Jobs } from '../jobs/send.ts'
import { enforceQuota, type QuotaLimits } from '../quotas/quotas.ts'
import { indexReferences } from './attachment-references.ts'
import { checkBytes } from './body-limits.ts'
import { textVersion } from './canonical.ts'
import type { WrittenBody } from './content.ts'
import { insertFirstBodies } from './queries.ts'

/**
 * A new document and its first body as the body is stored. `nodes` and `characters` count what the limits on a body
 * count.
 */
export type FirstBody = {
  document: Omit<NewDocument, 'workspace_id' | 'version' | 'character_count' | 'node_count'>
  content: Pick<WrittenBody, 'text' | 'nodes' | 'characters'>
}

/**
 * Stores new documents of one workspace with their first bodies, a `document.created` event each, and their jobs. A
 * first body is no snapshot. The caller has claimed the ids and locked the location. Refuses with 422
 * `document_too_large` a body of more than `byteLimit` bytes, and with 409 `quota_exceeded`. Call the function once in
 * a transaction, as the last step, because it enqueues jobs.
 */
export async function storeDocuments(
  context: { tx: Transaction; jobs: Jobs; config: QuotaLimits },
  input: { workspaceId: string; documents: readonly FirstBody[]; byteLimit?: number },
): Promise<readonly DocumentRow[]> {
  const { tx } = context
  const { workspaceId, documents } = input
  if (documents.length === 0) return []
  const bodies = documents.map(({ document, content: { text } }) => {
    checkBytes(Buffer.byteLength(text), input.byteLimit)
    return { id: document.id, version: textVersion(text), body: text }
  })
  await enforceQuota(context, { quota: 'documents', workspaceId, adding: documents.length })
  const inserted = insertDocuments(
    tx,
    documents.map(({ document, content }, index) => ({
      ...document,
      workspace_id: workspaceId,
      version: bodies[index]?.version ?? '',
      character_count: content.characters,
      node_count: content.nodes,
    })),
  )
  insertFirstBodies(tx, { workspaceId, bodies })
  indexReferences(tx, { workspaceId, bodies })
  const rows = await inserted
  await announce(context, { workspaceId, rows })
  return rows
}

async function announce(
  context: { tx: Transaction; jobs: Jobs },
  input: { workspaceId: string; rows: readonly DocumentRow[] },
): Promise<void> {
  const { workspaceId, rows } = input
  const documents = rows.map(eventDocument)
  const rowNos = await recordEvents(context.tx, { workspaceId, name: 'document.created', documents })
  await markStale(context, {
    workspaceId,
    changes: ['body'],
    documents: rows.map(({ id }, index) => ({ id, eventRowNo: rowNos[index] ?? 0, quiet: true })),
  })
}
