import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { BlockNode, BodyNode, DocNode, Json } from './document.ts'

/**
 * The RFC 8785 text of a JSON value: keys sorted by UTF-16 code unit, no white space, numbers and strings as ECMAScript
 * writes them. Expects the values that the normaliser makes: well-formed strings, finite numbers, bounded depth.
 */
export function canonicalJson(value: Json | BodyNode | DocNode): string {
  return isSorted(value as Json) ? JSON.stringify(value) : (canonicalize(value) ?? '')
}

/** The stored lines of a document: one top-level block a line, as canonical JSON, which contains no line feed. */
export function documentToLines(document: DocNode): string[] {
  return document.content.map((block) => canonicalJson(block))
}

/** The document that stored lines hold. */
export function linesToDocument(lines: readonly string[]): DocNode {
  return { type: 'doc', content: JSON.parse(`[${lines.join(',')}]`) as BlockNode[] }
}

/**
 * The version of a body: `sha256:` and 64 hexadecimal digits of the hash of its stored lines. The ETag is the version
 * in quotes. @internal
 */
export function bodyVersion(lines: readonly string[]): string {
  return textVersion(lines.join('\n'))
}

/** The version of a body from its stored text, for callers that have the lines joined already. */
export function textVersion(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** The hash of a block with its nested blocks. A client can compute the same hash from a tiptap-json read. */
export function blockHash(block: BodyNode): string {
  return textVersion(canonicalJson(block))
}

// The normaliser builds objects in canonical order already. `canonicalize` takes three to four times as long as this
// check with `JSON.stringify`.
function isSorted(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isSorted)
  let before = ''
  for (const name of Object.keys(value)) {
    if (name < before || isIndex(name) || !isSorted(value[name])) return false
    before = name
  }
  return true
}

// Objects list names that look like array indices first, whatever order the names were added in.
function isIndex(name: string): boolean {
  return name.charCodeAt(0) <= 0x39 && /^\d+$/.test(name)
}
