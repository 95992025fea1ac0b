import { Refusal } from '../../shared/errors/errors.ts'
import { requirePreconditions, type VersionGuard } from '../../shared/requests/version-guard.ts'
import { entityTagOf, type Guard, satisfies } from './preconditions.ts'

/**
 * The guard of a record that counts its versions, such as `concept:3`. `field` names the member of the body that
 * carries the guard instead of If-Match. A 409 for If-Match also shows the current version as ETag.
 */
export function versionGuard(guard: Guard | null, field?: string): VersionGuard {
  const missing = guard === null ? [field ?? 'If-Match'] : []
  return {
    missing,
    require: () => requirePreconditions(missing),
    check(version) {
      if (guard === null || satisfies(guard, version)) return
      const provided = guard === '*' ? '*' : guard.join(', ')
      throw new Refusal('version_conflict', {
        details: { provided, current_version: version, ...(field !== undefined && { field }) },
        ...(field === undefined && { headers: { ETag: entityTagOf(version) } }),
      })
    },
  }
}

/**
 * The guards of a merge. The first tag of If-Match guards the source; `target_version` or a second tag of If-Match
 * guards the target. A second tag that differs from `target_version` is refused with 400 `precondition_mismatch`.
 */
export function mergeGuardsOf(
  header: Guard | null,
  target: Guard | null,
): { source: VersionGuard; target: VersionGuard } {
  const [first, second, ...others] = header === null || header === '*' ? [] : header
  const isPair = first !== undefined && second !== undefined && others.length === 0
  if (target === null && isPair) {
    return { source: versionGuard([first]), target: versionGuard([second], 'target_version') }
  }
  if (isPair && target !== null && target !== '*' && !target.includes(second)) {
    throw new Refusal('precondition_mismatch', { details: { header: 'If-Match' } })
  }
  return { source: versionGuard(header), target: versionGuard(target, 'target_version') }
}
