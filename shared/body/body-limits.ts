import type { Config } from '../config/config.ts'
import { Refusal } from '../errors/errors.ts'
import { codePoints } from '../schema/strings.ts'
import type { BodyNode, DocNode } from './document.ts'

/** Blocks may nest this deep; a top-level block is at depth 1 (decisions 2.5). */
export const maximumDepth = 32

/** A body may hold this many nodes; text nodes are bounded by the character cap instead (decisions 2.5). */
export const maximumNodes = 20_000

/** How much a body may hold: code points of text, and bytes of its stored lines with everything in them. */
export type BodyLimits = { characterLimit: number; byteLimit: number }

/** The limits that the settings give. */
export function bodyLimits(config: Pick<Config, 'QUOTA_DOCUMENT_CHARACTERS' | 'DOCUMENT_MAX_BYTES'>): BodyLimits {
  return { characterLimit: config.QUOTA_DOCUMENT_CHARACTERS, byteLimit: config.DOCUMENT_MAX_BYTES }
}

/** Refuses a body whose text is over the cap; there is none when `limit` is undefined. */
export function checkCharacters(actual: number, limit: number | undefined): void {
  if (limit !== undefined && actual > limit) throw tooLarge({ limit, actual, unit: 'characters' })
}

/** Refuses a body whose stored lines have, or will at least have, more bytes than the cap, if there is one. */
export function checkBytes(actual: number, limit: number | undefined): void {
  if (limit !== undefined && actual > limit) throw tooLarge({ limit, actual, unit: 'bytes' })
}

/** The code points of all texts below a node, as the character cap counts them. */
export function characterCount(node: BodyNode | DocNode): number {
  if ('text' in node && node.text !== undefined) return codePoints(node.text)
  return (node.content ?? []).reduce((sum, child) => sum + characterCount(child), 0)
}

/** The nodes at and below a node that the node limit counts: all but text and the document itself. */
export function nodeCount(node: BodyNode | DocNode): number {
  const own = node.type === 'text' || node.type === 'doc' ? 0 : 1
  return (node.content ?? []).reduce((sum, child) => sum + nodeCount(child), own)
}

/** 422 `document_too_large`; where counting stopped early, `actual` is as far as it came. */
function tooLarge(details: { limit: number; actual: number; unit: 'characters' | 'bytes' }): Refusal {
  return new Refusal('document_too_large', { details })
}
