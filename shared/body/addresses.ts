import { ulidPattern } from '../schema/ids.ts'

const linkSchemes = new Set(['http', 'https', 'mailto', 'tel', 'svc'])
const imageSchemes = new Set(['http', 'https'])
// Characters that browsers skip inside an address (controls, white space), or that hide a scheme from a reader (format
// characters such as the zero-width space).
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it strips
const ignored = /[\u0000-\u0020\u007f-\u00a0\u00ad\u061c\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]/g
const schemePattern = /^([a-z][a-z0-9+.-]*):/i
const attachmentPath = new RegExp(`^/api/v1/attachments/(att_${ulidPattern})$`)
const attachmentIdPattern = new RegExp(`^att_${ulidPattern}$`)

// Canonical JSON escapes quotes within texts, so only attributes of images match this pattern.
const attachmentInText = /"attachmentId":"(att_[0-9A-Z]{26})"/g
const linkedInText = /"href":"\/api\/v1\/attachments\/(att_[0-9A-Z]{26})"/g

/** True if a link may lead to the address: the scheme is allowed, or the address is a relative reference. */
export function isAllowedHref(href: string): boolean {
  return hasScheme(href, linkSchemes)
}

/**
 * True if an image may come from the address: the scheme is `http` or `https`, or the address is a relative reference.
 */
export function isAllowedSrc(src: string): boolean {
  return hasScheme(src, imageSchemes)
}

/** The id of the attachment that the address of an image names, or null for any other address. */
export function attachmentIdOf(src: string): string | null {
  return attachmentPath.exec(src)?.[1] ?? null
}

/** The address of an attachment's bytes. */
export function attachmentSrc(attachmentId: string): string {
  return `/api/v1/attachments/${attachmentId}`
}

/** True if the text has the form of an attachment id. */
export function isAttachmentId(text: string): boolean {
  return attachmentIdPattern.test(text)
}

/** True if an image in the stored lines of a body shows the attachment. */
export function showsAttachment(text: string, id: string): boolean {
  return text.includes(`"attachmentId":${JSON.stringify(id)}`)
}

/** The ids of the attachments that the images in the stored lines of a body show. */
export function attachmentsIn(text: string): Set<string> {
  return new Set(Array.from(text.matchAll(attachmentInText), (match) => match[1] as string))
}

/** The ids of the attachments to whose bytes links in the stored lines of a body lead. */
export function linkedAttachmentsIn(text: string): Set<string> {
  return new Set(Array.from(text.matchAll(linkedInText), (match) => match[1] as string))
}

function hasScheme(address: string, allowed: Set<string>): boolean {
  const bare = address.replace(ignored, '')
  const scheme = schemePattern.exec(bare)?.[1]
  // An address with a colon before any slash, query or fragment, but without a valid scheme, is refused. Browsers do
  // not agree on the meaning of such an address.
  if (scheme === undefined) return !/^[^/?#]*:/.test(bare)
  return allowed.has(scheme.toLowerCase())
}
