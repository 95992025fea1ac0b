import type { Config } from '../config/config.ts'
import { Refusal } from '../errors/errors.ts'
import { codePoints } from '../schema/code-points.ts'
import type { BodyNode, DocNode } from './document.ts'

/** The highest number of levels of nested blocks; a top-level block is at level 1. */
export const maximumDepth = 32

/** The highest number of nodes in a body. Text nodes do not count, because the limit on characters bounds them. */
export const maximumNodes = 20_000

/** A pair of size limits that a body keeps to: code points of text, and bytes of its stored lines. */
export type BodyLimits = { characterLimit: number; byteLimit: number }

/** The size limits from the settings. */
export function bodyLimits(config: Pick<Config, 'QUOTA_DOCUMENT_CHARACTERS' | 'DOCUMENT_MAX_BYTES'>): BodyLimits {
  return { characterLimit: config.QUOTA_DOCUMENT_CHARACTERS, byteLimit: config.DOCUMENT_MAX_BYTES }
}

/** Refuses with 422 `document_too_large` a body with more code points than the limit; undefined means no limit. */
export function checkCharacters(actual: number, limit: number | undefined): void {
  if (limit !== undefined && actual > limit) throw tooLarge({ limit, actual, unit: 'characters' })
}

/**
 * Refuses with 422 `document_too_large` a body whose stored lines have more bytes than the limit; undefined means no
 * limit. `actual` may be a lower bound.
 */
export function checkBytes(actual: number, limit: number | undefined): void {
  if (limit !== undefined && actual > limit) throw tooLarge({ limit, actual, unit: 'bytes' })
}

/** The number of code points in all texts below a node. */
export function characterCount(node: BodyNode | DocNode): number {
  if ('text' in node && node.text !== undefined) return codePoints(node.text)
  return (node.content ?? []).reduce((sum, child) => sum + characterCount(child), 0)
}

/** The number of nodes at and below a node, without texts and without the document itself. */
export function nodeCount(node: BodyNode | DocNode): number {
  const own = node.type === 'text' || node.type === 'doc' ? 0 : 1
  return (node.content ?? []).reduce((sum, child) => sum + nodeCount(child), own)
}

/** The refusal 422 `document_too_large`. When counting stops early, `actual` is what was counted so far. */
function tooLarge(details: { limit: number; actual: number; unit: 'characters' | 'bytes' }): Refusal {
  return new Refusal('document_too_large', { details })
}
