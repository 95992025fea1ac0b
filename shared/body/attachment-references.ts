import type { Transaction } from '../database/database.ts'
import { replaceReferences, shareAttachments } from './attachment-reference-queries.ts'
import { attachmentsIn } from './attachments-in-text.ts'
import { type NamedAttachments, refuse } from './normalise-state.ts'

/**
 * Refuses with 422 attachments that a body newly shows, `ids`, and that its workspace does not have (decisions 2.5),
 * with the place in the request where the first of them is named. Ids that the request does not name are let be: a
 * rollback may show a dead image. Those found cannot be deleted until the transaction ends.
 */
export async function requireAttachments(
  tx: Transaction,
  input: { workspaceId: string; ids: Iterable<string>; named: NamedAttachments },
): Promise<void> {
  const { workspaceId, named } = input
  const newlyShown = new Set(input.ids)
  const ids = [...named.keys()].filter((id) => newlyShown.has(id))
  if (ids.length === 0) return
  const found = new Set(await shareAttachments(tx, { workspaceId, ids }))
  for (const id of ids) {
    const place = found.has(id) ? undefined : named.get(id)
    if (place !== undefined) throw refuse('attachment_not_found', place, `there is no attachment ${id}`)
  }
}

/** Brings the index of references level with a changed body, by the attachments that it newly shows or no longer does. */
export async function followReferences(
  tx: Transaction,
  body: { workspaceId: string; documentId: string; shown: readonly string[]; hidden: readonly string[] },
): Promise<void> {
  const { workspaceId, documentId, shown, hidden } = body
  if (shown.length + hidden.length === 0) return
  const references = (ids: readonly string[]) => ids.map((attachmentId) => ({ documentId, attachmentId }))
  await replaceReferences(tx, { workspaceId, shown: references(shown), hidden: references(hidden) })
}

/** Indexes what the bodies of new documents show. */
export async function indexReferences(
  tx: Transaction,
  input: { workspaceId: string; bodies: readonly { id: string; body: string }[] },
): Promise<void> {
  const { workspaceId, bodies } = input
  const shown = bodies.flatMap(({ id, body }) =>
    [...attachmentsIn(body)].map((attachmentId) => ({ documentId: id, attachmentId })),
  )
  if (shown.length > 0) await replaceReferences(tx, { workspaceId, shown, hidden: [] })
}
