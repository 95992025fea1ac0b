/**
 * The best of the available locales for a requested one by the lookup of RFC 4647 (3.4): the tag itself, then the tag
 * without its last subtag, and so on (`zh-Hant-TW` → `zh-Hant` → `zh`); null when none is left. A single letter that
 * would come to stand last, such as the `x` of private use, goes together with what it introduces. Tags are canonical.
 */
export function lookupLocale(requested: string, available: ReadonlySet<string>): string | null {
  const subtags = requested.split('-')
  while (subtags.length > 0) {
    const range = subtags.join('-')
    if (available.has(range)) return range
    subtags.pop()
    if (subtags.at(-1)?.length === 1) subtags.pop()
  }
  return null
}
