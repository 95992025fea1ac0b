import { Refusal } from '../errors/errors.ts'

/**
 * A precondition that a caller put on a record with a version of its own. The two halves stand apart because what a
 * record's state refuses comes between them (decisions 2.0).
 */
export type VersionGuard = {
  /** What would have carried the precondition, `If-Match` or a member of the body; empty when it was sent. */
  missing: readonly string[]
  /** Refuses with 428 when the precondition is missing. */
  require: () => void
  /** Refuses with 409 `version_conflict` when it does not name the current version, such as `concept:3`. */
  hold: (version: string) => void
}

/** Refuses with 428 unless nothing is missing, and names all that is: a caller repairs its call at once. */
export function requireAll(missing: readonly string[]): void {
  if (missing.length > 0) throw new Refusal('precondition_required', { details: { missing } })
}
