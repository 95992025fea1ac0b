import { Refusal } from '../shared/errors.ts'

/** The media type of bodies of our own (specification 4.9). */
export const vendorType = 'application/vnd.svc.document+json'

/**
 * Chooses the media type of a content read: JSON, or the vendor's own type when the caller prefers it. A caller that
 * admits neither gets 415, the only place where Accept matters (decisions 4.9, D17).
 */
export function negotiateContentType(accepts: (types: string[]) => string | false): string {
  const chosen = accepts(['application/json', vendorType])
  if (chosen === vendorType) return vendorType
  if (chosen !== false) return 'application/json; charset=utf-8'
  throw new Refusal('unsupported_media_type', { details: { accepted: ['application/json', vendorType] } })
}
