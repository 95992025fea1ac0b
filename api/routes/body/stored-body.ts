import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { type CurrentBody, currentBody } from '../../../shared/body/queries.ts'
import { StoredBody } from '../../../shared/body/stored-body.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import { type DocumentRow, visibleDocument } from '../../../shared/documents/queries.ts'
import { Refusal } from '../../../shared/errors/errors.ts'

type DocumentCall = { db: Queryable; caller: Caller; params: { id: string } }

/** The document a read is about, without its body; 404 when it is not visible. */
export async function requireDocument(call: DocumentCall): Promise<DocumentRow> {
  const { id } = call.params
  const document = await visibleDocument(call.db, { documentId: id, workspaceIds: visibleWorkspaces(call.caller) })
  if (document === null) throw new Refusal('document_not_found', { details: { id } })
  return document
}

/** The body a read is about, with what its answer shows beside it; 404 when the document is not visible. */
export async function requireBody(call: DocumentCall): Promise<{ stored: CurrentBody; body: StoredBody }> {
  const { id } = call.params
  const stored = await currentBody(call.db, { documentId: id, workspaceIds: visibleWorkspaces(call.caller) })
  if (stored === null) throw new Refusal('document_not_found', { details: { id } })
  return { stored, body: new StoredBody({ version: stored.version, text: stored.body }) }
}

/** The members that every answer about a whole body begins with. */
export function bodyHeading(document: { id: string; version: string; updated_at: number }) {
  return {
    document_id: document.id,
    document_uri: `svc://doc/${document.id}`,
    version: document.version,
    updated_at: document.updated_at,
  }
}
