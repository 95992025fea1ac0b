/**
 * Notes in a cookie whether this browser keeps text of a document that was not sent. Browsers send the cookie with the
 * form that signs out alone, and the service then asks first, because signing out deletes what browsers keep.
 */
export function noteUnsent(documentId: string, isUnsent: boolean): void {
  const value = encodeURIComponent([...document.title].slice(0, mostLetters).join(''))
  const seconds = isUnsent ? yearSeconds : 0
  const secure = location.protocol === 'https:' ? '; secure' : ''
  // biome-ignore lint/suspicious/noDocumentCookie: not all browsers have the Cookie Store API.
  document.cookie = `svc_unsent_${documentId}=${value}; path=/logout; max-age=${seconds}; samesite=lax${secure}`
}

// The most letters of a title in a cookie, whose size browsers limit.
const mostLetters = 60
const yearSeconds = 365 * 86_400
