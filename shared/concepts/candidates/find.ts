import { type Caller, visibleWorkspaces } from '../../auth/caller.ts'
import type { Queryable } from '../../database/database.ts'
import { Refusal } from '../../errors/errors.ts'
import { type CandidateRow, visibleCandidate } from './queries.ts'

/** A visible candidate; otherwise 404. */
export async function findCandidate(db: Queryable, input: { caller: Caller; id: string }): Promise<CandidateRow> {
  const found = await visibleCandidate(db, { id: input.id, workspaceIds: visibleWorkspaces(input.caller) })
  if (found === null) throw missingCandidate(input.id)
  return found
}

/** The 404 of a candidate; `field` is the parameter that named it. */
export function missingCandidate(id: string, field?: string): Refusal {
  return new Refusal('candidate_not_found', { details: { id, ...(field !== undefined && { field }) } })
}
