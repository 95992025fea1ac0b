import type { EditorStanding } from '../../shared/documents/editor-standings.ts'
import type { DenialReason } from './denial.ts'

/** The reason why a document may not be opened, or whether the document may only be read. */
export type Rights = { denied: DenialReason; readOnly: true } | { denied: null; readOnly: boolean }

/** What a user may do in an open document. The scopes of the token and the role must both allow an action. */
export function rightsOf({ admitted, may_read, may_write, role }: EditorStanding): Rights {
  if (!admitted) return denied('invalid_token')
  if (!may_read) return denied('insufficient_scope')
  if (role === null) return denied('document_not_found')
  return { denied: null, readOnly: role === 'viewer' || !may_write }
}

function denied(reason: DenialReason): Rights {
  return { denied: reason, readOnly: true }
}
