import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { BlockNode, BodyNode, DocNode, Json } from './document.ts'

/**
 * The RFC 8785 text of a JSON value: keys sorted by UTF-16 unit, no white space, numbers and strings as ECMAScript
 * writes them. Takes what the normaliser produces: well-formed strings, finite numbers, bounded depth.
 */
export function canonicalJson(value: Json | BodyNode | DocNode): string {
  return isSorted(value as Json) ? JSON.stringify(value) : (canonicalize(value) ?? '')
}

/** The stored lines of a document: canonical JSON, one top-level block a line; canonical JSON has no raw newline. */
export function documentToLines(document: DocNode): string[] {
  return document.content.map((block) => canonicalJson(block))
}

/** The document behind stored lines. */
export function linesToDocument(lines: readonly string[]): DocNode {
  return { type: 'doc', content: JSON.parse(`[${lines.join(',')}]`) as BlockNode[] }
}

/** The version of a body, `sha256:<64 hex>` of its stored lines; the ETag is the same in quotes (decisions 2.0). */
export function bodyVersion(lines: readonly string[]): string {
  return textVersion(lines.join('\n'))
}

/** The version of a body from its stored text, for callers that have joined the lines already. */
export function textVersion(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** The hash of one block, nested blocks included, as a client can compute it from a tiptap-json read. */
export function blockHash(block: BodyNode): string {
  return textVersion(canonicalJson(block))
}

// The normaliser builds objects in canonical order already; looking is cheaper than building them again.
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

// Objects enumerate names that look like array indices first, whatever order they are written in.
function isIndex(name: string): boolean {
  return name.charCodeAt(0) <= 0x39 && /^\d+$/.test(name)
}
