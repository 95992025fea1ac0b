/** The opaque text of a cursor: base64url of a JSON array (decisions 2.0, pagination). */
export function cursorText(members: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(members)).toString('base64url')
}

/**
 * The members of a cursor's text, or null when it is not one that `cursorText` wrote: base64url would otherwise let
 * several texts pass for the same cursor. What the members mean, and may be, is the caller's to check.
 */
export function cursorMembers(text: string): unknown[] | null {
  const bytes = Buffer.from(text, 'base64url')
  if (text.length > longest || bytes.toString('base64url') !== text) return null
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return Array.isArray(value) ? value : null
  } catch {
    // Not JSON, so not one of ours.
    return null
  }
}

const longest = 512
