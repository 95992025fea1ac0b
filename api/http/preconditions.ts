import type { Request } from 'express'
import { Refusal } from '../../shared/errors/errors.ts'

/**
 * A parsed If-Match or If-None-Match: `*`, or the value of each tag. A weak tag of If-Match keeps its form `W/"…"`. No
 * version has that form, so a weak tag never matches (RFC 9110 13.1.1). The details of a conflict show the tag as it
 * was sent.
 */
export type EntityTags = '*' | readonly string[]

/** The precondition of a write. The pipeline builds it from If-Match and from the route's option `guard`. */
export type Guard = {
  /** Whether the write is refused with 428 `precondition_required` when `tags` is null. */
  required: boolean
  /** Null when the caller sent no precondition. */
  tags: EntityTags | null
}

/** The form of a resource's versions: the digest of a body or of bytes, or the count of a record's changes. */
export type VersionForm = keyof typeof bareVersions

const entityTag = /^\s*(W\/)?"([\x21\x23-\x7e\x80-\uffff]*)"\s*(?:,|$)/
// The forms of versions. If-Match may also name a version without quotes, if it has the form that the versions of the
// resource have.
const bareVersions = {
  digest: /^\s*(sha256:[0-9a-f]{64})\s*(?:,|$)/,
  summary: /^\s*(summary:(?:0|[1-9][0-9]{0,15}))\s*(?:,|$)/,
  concept: /^\s*(concept:(?:0|[1-9][0-9]{0,15}))\s*(?:,|$)/,
  candidate: /^\s*(candidate:(?:0|[1-9][0-9]{0,15}))\s*(?:,|$)/,
}
// A list may have empty members, which count for nothing (RFC 9110 5.6.1).
const emptyMembers = /^[\s,]+/

/**
 * Builds the guard of a call from its If-Match. A route without the option `guard` ignores the header. A malformed
 * header is refused with 400 `invalid_precondition`.
 */
export function guardOf(
  ifMatch: string | undefined,
  route: { guard?: 'optional' | 'required'; versionForm?: VersionForm },
): Guard {
  if (route.guard === undefined) return { required: false, tags: null }
  return { required: route.guard === 'required', tags: parseEntityTags(ifMatch, { form: route.versionForm }) }
}

/**
 * Parses If-Match or If-None-Match; null when the header was not sent. A header that is neither `*` nor a list of at
 * least one tag is refused with 400 `invalid_precondition`.
 */
export function parseEntityTags(
  header: string | undefined,
  options: { name?: 'If-Match' | 'If-None-Match'; form?: VersionForm | undefined } = {},
): EntityTags | null {
  const { name = 'If-Match', form = 'digest' } = options
  if (header === undefined) return null
  // If-None-Match compares weakly, so the answer is 304 even when a proxy has made the tag of the service weak.
  const tags = readTags(header, { form, weakMatches: name === 'If-None-Match' })
  if (tags === null) throw new Refusal('invalid_precondition', { details: { header: name } })
  return tags
}

/**
 * Parses a version that a member of the body carries in place of If-Match; null when the member is absent. `name` is
 * the name of the member. A malformed version is refused with 400 `invalid_request`, and the details point at the
 * member.
 */
export function parseMember(member: { name: string; value: string | undefined; form: VersionForm }): EntityTags | null {
  const { name, value, form } = member
  if (value === undefined) return null
  const tags = readTags(value, { form, weakMatches: false })
  if (tags !== null) return tags
  const message = 'must be a version, quoted or bare'
  throw new Refusal('invalid_request', { details: { fields: [{ path: `/${name}`, message }] } })
}

/**
 * Whether one of the given versions is among the tags. A write to one block gives two versions: the version of the body
 * and the hash of the block.
 */
export function satisfies(tags: EntityTags, ...versions: string[]): boolean {
  return tags === '*' || versions.some((version) => tags.includes(version))
}

/** Whether If-None-Match names this version. The client then has the resource already, and the answer is 304. */
export function hasVersion(request: Request, version: string): boolean {
  const known = parseEntityTags(request.get('if-none-match'), { name: 'If-None-Match' })
  return known !== null && satisfies(known, version)
}

/**
 * Merges the guard of If-Match with the version that a body may carry instead (`base_version`, `base_target_version`).
 * Two different versions are refused with 400 `precondition_mismatch`, and a malformed version with 400
 * `invalid_precondition`.
 */
export function mergeGuards(guard: Guard, inBody: string | undefined): Guard {
  const tags = parseEntityTags(inBody)
  if (tags === null) return guard
  const { tags: sent } = guard
  const differs = sent !== null && sent !== '*' && tags !== '*' && !tags.some((tag) => sent.includes(tag))
  if (differs) throw new Refusal('precondition_mismatch', { details: { header: 'If-Match' } })
  return { ...guard, tags }
}

/** The quoted form of a version in an ETag header. */
export function entityTagOf(version: string): string {
  return `"${version}"`
}

// `*` or the tags of a list; null when the text is neither `*` nor a list of tags.
function readTags(text: string, options: { form: VersionForm; weakMatches: boolean }): EntityTags | null {
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
