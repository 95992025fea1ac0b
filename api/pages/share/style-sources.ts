import { createHash } from 'node:crypto'

// The most style attributes that the Content-Security-Policy of a page admits. More would make the header too large.
const maximumStyles = 40

/**
 * The `style-src` of a page with the HTML of a document. Alignment and colours are in style attributes, and the policy
 * admits the first 40 of them by their hashes. The pattern also finds a text that only looks like such an attribute,
 * but its hash does no harm.
 */
export function styleSources(html: string): string {
  const styles = new Set(Array.from(html.matchAll(/ style="([a-z-]+:[^"<>&;]+)"/g), (match) => match[1] as string))
  if (styles.size === 0) return "'self'"
  const hashes = [...styles]
    .slice(0, maximumStyles)
    .map((style) => `'sha256-${createHash('sha256').update(style).digest('base64')}'`)
  return ["'self'", "'unsafe-hashes'", ...hashes].join(' ')
}
