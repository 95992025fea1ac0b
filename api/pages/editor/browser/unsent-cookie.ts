import type { PageData } from './page-data.ts'

/**
 * Notes in a cookie whether this browser keeps text of a document that was not sent. Browsers send the cookie with the
 * form that signs out alone, and the service then asks first, because signing out deletes what browsers keep.
 */
export function noteUnsent({ userId, documentId }: PageData, isUnsent: boolean): void {
  const seconds = isUnsent ? yearSeconds : 0
  const secure = location.protocol === 'https:' ? '; secure' : ''
  // biome-ignore lint/suspicious/noDocumentCookie: not all browsers have the Cookie Store API.
  document.cookie = `svc_unsent_${userId}_${documentId}=yes; path=/logout; max-age=${seconds}; samesite=lax${secure}`
}

const yearSeconds = 365 * 86_400
