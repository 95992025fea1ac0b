/** The types of images that a browser shows and cannot run: only these may be served under their own type. */
export const inlineImageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
