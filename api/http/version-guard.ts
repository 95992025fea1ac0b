import { Refusal } from '../../shared/errors/errors.ts'
import { requirePreconditions, type VersionGuard } from '../../shared/requests/version-guard.ts'
import { type EntityTags, entityTagOf, type Guard, satisfies } from './preconditions.ts'

/**
 * Makes the guard of a record that counts its versions, such as `concept:3`, from the If-Match of a call. The guard
 * refuses with 409 `version_conflict`, and the ETag of the refusal is the current version.
 */
export function versionGuard(guard: Guard): VersionGuard {
  return guardedBy(guard.tags)
}

/**
 * Makes the guards of both concepts of a merge. The first tag of If-Match guards the source. The member
 * `target_version` of the body or a second tag of If-Match guards the target. A second tag that differs from
 * `target_version` is refused with 400 `precondition_mismatch`.
 */
export function mergeGuardsOf(
  { tags }: Guard,
  target: EntityTags | null,
): { source: VersionGuard; target: VersionGuard } {
  const [first, second, ...others] = tags === null || tags === '*' ? [] : tags
  const isPair = first !== undefined && second !== undefined && others.length === 0
  if (target === null && isPair) {
    return { source: guardedBy([first]), target: guardedBy([second], 'target_version') }
  }
  if (isPair && target !== null && target !== '*' && !target.includes(second)) {
    throw new Refusal('precondition_mismatch', { details: { header: 'If-Match' } })
  }
  return { source: guardedBy(tags), target: guardedBy(target, 'target_version') }
}

// `field` names the member of the body that carries the precondition in place of If-Match.
function guardedBy(tags: EntityTags | null, field?: string): VersionGuard {
  const missing = tags === null ? [field ?? 'If-Match'] : []
  return {
    missing,
    require: () => requirePreconditions(missing),
    check(version) {
      if (tags === null || satisfies(tags, version)) return
      const provided = tags === '*' ? '*' : tags.join(', ')
      throw new Refusal('version_conflict', {
        details: { provided, current_version: version, ...(field !== undefined && { field }) },
        ...(field === undefined && { headers: { ETag: entityTagOf(version) } }),
      })
    },
  }
}
