import type { Request } from 'express'
import { Refusal } from '../../shared/errors/errors.ts'

/**
 * A parsed If-Match: `*`, or the values of its tags. A weak tag keeps its form, which no version has, so that it never
 * matches (RFC 9110 13.1.1) and a conflict can still tell what was sent.
 */
export type Guard = '*' | readonly string[]

/** What the versions of a resource look like: the digest of a body or of bytes, or the count of a record's changes. */
export type VersionForm = keyof typeof bareVersions

const entityTag = /^\s*(W\/)?"([\x21\x23-\x7e\x80-\uffff]*)"\s*(?:,|$)/
// A bare value is tolerated when it has the form of the resource's own versions (decisions 2.0).
const bareVersions = {
  digest: /^\s*(sha256:[0-9a-f]{64})\s*(?:,|$)/,
  summary: /^\s*(summary:(?:0|[1-9][0-9]{0,15}))\s*(?:,|$)/,
  concept: /^\s*(concept:(?:0|[1-9][0-9]{0,15}))\s*(?:,|$)/,
  candidate: /^\s*(candidate:(?:0|[1-9][0-9]{0,15}))\s*(?:,|$)/,
}
// A list may have empty members, which count for nothing (RFC 9110 5.6.1).
const emptyMembers = /^[\s,]+/

/**
 * Parses If-Match or If-None-Match; null when it was not sent. Anything else than `*` or a list of at least one tag is
 * refused with 400.
 */
export function parseGuard(
  header: string | undefined,
  options: { name?: 'If-Match' | 'If-None-Match'; form?: VersionForm | undefined } = {},
): Guard | null {
  const { name = 'If-Match', form = 'digest' } = options
  if (header === undefined) return null
  // If-None-Match compares weakly, so that a proxy that weakened our tag still gets its 304.
  const guard = read(header, { form, weakMatches: name === 'If-None-Match' })
  if (guard === null) throw new Refusal('invalid_precondition', { details: { header: name } })
  return guard
}

/** Parses a guard that only a body carries; null when it was not sent, 400 `invalid_request` at the member when it is none. */
export function parseMember(member: { name: string; value: string | undefined; form: VersionForm }): Guard | null {
  const { name, value, form } = member
  if (value === undefined) return null
  const guard = read(value, { form, weakMatches: false })
  if (guard !== null) return guard
  const message = 'must be a version, quoted or bare'
  throw new Refusal('invalid_request', { details: { fields: [{ path: `/${name}`, message }] } })
}

/** `*` or the tags of a list; null when it is neither. */
function read(text: string, options: { form: VersionForm; weakMatches: boolean }): Guard | null {
  if (text.trim() === '*') return '*'
  const tags: string[] = []
  let rest = text.replace(emptyMembers, '')
  while (rest !== '' || tags.length === 0) {
    const quoted = entityTag.exec(rest)
    const match = quoted ?? bareVersions[options.form].exec(rest)
    if (match === null) return null
    const value = (quoted === null ? match[1] : match[2]) ?? ''
    const isWeak = quoted?.[1] !== undefined && !options.weakMatches
    tags.push(isWeak ? `W/"${value}"` : value)
    rest = rest.slice(match[0].length).replace(emptyMembers, '')
  }
  return tags
}

/** Whether one of the given versions satisfies the guard; a document's block may be guarded by its own hash as well. */
export function satisfies(guard: Guard, ...versions: string[]): boolean {
  return guard === '*' || versions.some((version) => guard.includes(version))
}

/**
 * Merges the guard of the header with the one a body may carry in its place (`base_version`, `base_target_version`), of
 * the same form and refused alike; both given and different is 400 `precondition_mismatch`.
 */
export function mergeGuards(header: Guard | null, inBody: string | undefined): Guard | null {
  const guard = parseGuard(inBody)
  if (guard === null) return header
  const differs = header !== null && header !== '*' && guard !== '*' && !guard.some((tag) => header.includes(tag))
  if (differs) throw new Refusal('precondition_mismatch', { details: { header: 'If-Match' } })
  return guard
}

/** The quoted form of a version in an ETag header. */
export function entityTagOf(version: string): string {
  return `"${version}"`
}

/** Whether the client says that it has this version of what it asks for; the answer is 304 then. */
export function hasVersion(request: Request, version: string): boolean {
  const known = parseGuard(request.get('if-none-match'), { name: 'If-None-Match' })
  return known !== null && satisfies(known, version)
}
