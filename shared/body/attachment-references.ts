import type { Transaction } from '../database/database.ts'
import { replaceReferences, shareAttachments } from './attachment-reference-queries.ts'
import { type NamedAttachments, refuse } from './normalise-state.ts'

// In canonical JSON quotes within texts are escaped, so only attributes of images look like this.
const attachmentInText = /"attachmentId":"(att_[0-9A-Z]{26})"/g

/** Whether stored lines of a body show an attachment. */
export function showsAttachment(text: string, id: string): boolean {
  return text.includes(`"attachmentId":${JSON.stringify(id)}`)
}

/**
 * Refuses with 422 attachments that a body newly refers to and that its workspace does not have (decisions 2.5), with
 * the place in the request where the first of them is named. What the body showed before (`currentText`) is let be: a
 * rollback or an untouched block may show a dead image. Those found cannot be deleted until the transaction ends.
 */
export async function requireAttachments(
  tx: Transaction,
  body: { workspaceId: string; attachments: NamedAttachments; currentText: string },
): Promise<void> {
  const ids = [...body.attachments.keys()].filter((id) => !showsAttachment(body.currentText, id))
  if (ids.length === 0) return
  const found = new Set(await shareAttachments(tx, { workspaceId: body.workspaceId, ids }))
  for (const id of ids) {
    const place = found.has(id) ? undefined : body.attachments.get(id)
    if (place !== undefined) throw refuse('attachment_not_found', place, `there is no attachment ${id}`)
  }
}

/** Brings the index of references level with a changed body; `changed` are the lines that only one of both bodies has. */
export async function followReferences(
  tx: Transaction,
  body: { workspaceId: string; documentId: string; changed: readonly string[]; text: string },
): Promise<void> {
  const { workspaceId, documentId, text } = body
  const touched = [...new Set(body.changed.flatMap((line) => [...attachmentsIn(line)]))]
  if (touched.length === 0) return
  const pick = (isShown: boolean) => touched.filter((id) => showsAttachment(text, id) === isShown)
  const [shown, hidden] = [pick(true), pick(false)].map((ids) =>
    ids.map((attachmentId) => ({ documentId, attachmentId })),
  )
  await replaceReferences(tx, { workspaceId, shown: shown ?? [], hidden: hidden ?? [] })
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

function attachmentsIn(text: string): Set<string> {
  return new Set(Array.from(text.matchAll(attachmentInText), (match) => match[1] as string))
}
