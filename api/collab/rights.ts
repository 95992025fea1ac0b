import type { Role } from '../../shared/auth/schema.ts'
import type { Scope } from '../../shared/auth/scopes.ts'
import type { DenialReason } from './denial.ts'

/** The facts from which the rights in a document follow. */
export type Standing = {
  /** Whether the token or session counts. */
  admitted: boolean
  /** The scopes of the token; null for a browser session, which has no scopes. */
  scopes: readonly Scope[] | null
  /** The role in the workspace of the document; null where the user cannot see the document. */
  role: Role | null
}

/** The reason why a document may not be opened, or whether the document may only be read. */
export type Rights = { denied: DenialReason; readOnly: true } | { denied: null; readOnly: boolean }

/** What a user may do in an open document: both the scopes of the token and the role must allow it. */
export function rightsOf({ admitted, scopes, role }: Standing): Rights {
  if (!admitted) return denied('invalid_token')
  if (scopes?.includes('documents:read') === false) return denied('insufficient_scope')
  if (role === null) return denied('document_not_found')
  return { denied: null, readOnly: role === 'viewer' || scopes?.includes('documents:write') === false }
}

function denied(reason: DenialReason): Rights {
  return { denied: reason, readOnly: true }
}
