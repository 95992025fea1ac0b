import { Refusal } from '../../shared/errors/errors.ts'
import { requireAll, type VersionGuard } from '../../shared/requests/version-guard.ts'
import { entityTagOf, type Guard, satisfies } from './preconditions.ts'

/**
 * The guard of a record whose version is a counted one, such as `concept:3`. `field` is the member of the body that
 * carries the guard instead of If-Match; without it the 409 shows the current version as ETag.
 */
export function versionGuard(guard: Guard | null, field?: string): VersionGuard {
  const missing = guard === null ? [field ?? 'If-Match'] : []
  return {
    missing,
    require: () => requireAll(missing),
    hold(version) {
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
 * The guards of a merge (decisions 2.10): If-Match is for the source, `target_version` for the target. Without the
 * latter a second tag in If-Match is; both and different is refused with 400 `precondition_mismatch`.
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
