const longest = 512

/** The opaque text of a cursor: a JSON array in base64url. */
export function cursorText(members: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(members)).toString('base64url')
}

/**
 * The members of a cursor, or null for a text that `cursorText` did not write. Several base64url texts decode to the
 * same bytes, so the bytes are encoded again and compared with the text. The caller checks the types and values of the
 * members.
 */
export function cursorMembers(text: string): unknown[] | null {
  const bytes = Buffer.from(text, 'base64url')
  if (text.length > longest || bytes.toString('base64url') !== text) return null
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return Array.isArray(value) ? value : null
  } catch {
    // The text is not JSON, so this service did not write it.
    return null
  }
}
