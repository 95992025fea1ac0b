/**
 * A precondition that a caller put on a record with a version of its own. The two halves stand apart because what a
 * record's state refuses comes between them (decisions 2.0).
 */
export type VersionGuard = {
  /** Refuses with 428 when the precondition is missing. */
  require: () => void
  /** Refuses with 409 `version_conflict` when it does not name the current version, such as `concept:3`. */
  hold: (version: string) => void
}
