import { Refusal } from '../errors/errors.ts'

/**
 * The precondition that a caller put on a record with a version of its own, such as a concept. A command asks for the
 * precondition first and compares the version last, because refusals that follow from the state of the record come in
 * between.
 */
export type VersionGuard = {
  /**
   * The missing carriers of the precondition, such as `If-Match` or a member of the body; empty when the precondition
   * was sent.
   */
  missing: readonly string[]
  /** Refuses with 428 `precondition_required` when the precondition is missing. */
  require: () => void
  /**
   * Refuses with 409 `version_conflict` when the precondition does not name the current version, such as `concept:3`.
   */
  check: (version: string) => void
}

/**
 * Refuses with 428 `precondition_required` unless `missing` is empty. The refusal names all missing preconditions, so
 * that the caller can repair its call at once.
 */
export function requirePreconditions(missing: readonly string[]): void {
  if (missing.length > 0) throw new Refusal('precondition_required', { details: { missing } })
}
