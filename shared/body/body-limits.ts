import type { Config } from '../config/config.ts'
import { Refusal } from '../errors/errors.ts'

/** How much a body may hold: code points of text, and bytes of its stored lines with everything in them. */
export type BodyLimits = { characterLimit: number; byteLimit: number }

/** The limits that the settings give. */
export function bodyLimits(config: Pick<Config, 'QUOTA_DOCUMENT_CHARACTERS' | 'DOCUMENT_MAX_BYTES'>): BodyLimits {
  return { characterLimit: config.QUOTA_DOCUMENT_CHARACTERS, byteLimit: config.DOCUMENT_MAX_BYTES }
}

/** 422 `document_too_large`; where counting stopped early, `actual` is as far as it came. */
function tooLarge(details: { limit: number; actual: number; unit: 'characters' | 'bytes' }): Refusal {
  return new Refusal('document_too_large', { details })
}

/** Refuses a body whose text is over the cap; there is none when `limit` is undefined. */
export function checkCharacters(actual: number, limit: number | undefined): void {
  if (limit !== undefined && actual > limit) throw tooLarge({ limit, actual, unit: 'characters' })
}

/** Refuses a body whose stored lines have, or will at least have, more bytes than the cap, if there is one. */
export function checkBytes(actual: number, limit: number | undefined): void {
  if (limit !== undefined && actual > limit) throw tooLarge({ limit, actual, unit: 'bytes' })
}
