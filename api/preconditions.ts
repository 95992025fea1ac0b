import { Refusal } from '../shared/errors.ts'

/**
 * A parsed If-Match: `*`, or the values of its tags. A weak tag keeps its form, which no version has, so that it never
 * matches (RFC 9110 13.1.1) and a conflict can still tell what was sent.
 */
export type Guard = '*' | readonly string[]

const entityTag = /^\s*(W\/)?"([\x21\x23-\x7e\x80-\uffff]*)"\s*(?:,|$)/
// A bare value is tolerated when it has the form of one of our versions (decisions 2.0).
const bareVersion = /^\s*(sha256:[0-9a-f]{64}|(?:summary|concept|candidate):(?:0|[1-9][0-9]{0,15}))\s*(?:,|$)/

/** Parses If-Match or If-None-Match; null when it was not sent. Anything else than a list of tags is refused with 400. */
export function parseGuard(header: string | undefined, name: 'If-Match' | 'If-None-Match' = 'If-Match'): Guard | null {
  if (header === undefined) return null
  if (header.trim() === '*') return '*'
  const tags: string[] = []
  let rest = header
  while (rest.trim() !== '') {
    const quoted = entityTag.exec(rest)
    const match = quoted ?? bareVersion.exec(rest)
    if (match === null) throw new Refusal('invalid_precondition', { details: { header: name } })
    const value = (quoted === null ? match[1] : match[2]) ?? ''
    // If-None-Match compares weakly, so that a proxy that weakened our tag still gets its 304.
    const isWeak = quoted?.[1] !== undefined && name === 'If-Match'
    tags.push(isWeak ? `W/"${value}"` : value)
    rest = rest.slice(match[0].length)
  }
  if (tags.length === 0 && header.trim() === '')
    throw new Refusal('invalid_precondition', { details: { header: name } })
  return tags
}

/** Whether one of the given versions satisfies the guard; a document's block may be guarded by its own hash as well. */
export function satisfies(guard: Guard, ...versions: string[]): boolean {
  return guard === '*' || versions.some((version) => guard.includes(version))
}

/**
 * Merges the guard of the header with the one a body carries (`base_version`, `base_target_version`): both given and
 * different is refused with 400 `precondition_mismatch`.
 */
export function mergeGuards(header: Guard | null, member: { name: string; value: string | undefined }): Guard | null {
  if (member.value === undefined) return header
  const guard = parseGuard(member.value)
  if (guard === null) return header
  const differs = header !== null && header !== '*' && guard !== '*' && !guard.some((tag) => header.includes(tag))
  if (differs) throw new Refusal('precondition_mismatch', { details: { header: 'If-Match' } })
  return guard
}

/** The quoted form of a version in an ETag header. */
export function entityTagOf(version: string): string {
  return `"${version}"`
}
