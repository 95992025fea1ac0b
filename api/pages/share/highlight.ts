import { createRequire } from 'node:module'

type Highlighter = {
  getLanguage: (language: string) => { name?: string } | undefined
  highlight: (code: string, options: { language: string; ignoreIllegals: boolean }) => { value: string }
  unregisterLanguage: (language: string) => void
}

const require = createRequire(import.meta.url)
let loaded: Highlighter | undefined

// The library is loaded by the first code with a language. `require` loads the library, because an import would bring
// its types, and with them the types of a browser, into every file.
function highlighter(): Highlighter {
  if (loaded !== undefined) return loaded
  const library: Highlighter = require('highlight.js/lib/common')
  // Code in Markdown is not coloured. For hostile text, the time of the Markdown grammar grows with the cube of the
  // length, of other grammars with the square.
  library.unregisterLanguage('markdown')
  loaded = library
  return library
}

/** The name of a language for readers, such as `TypeScript` for `ts`; an unknown language keeps the author's word. */
export function languageName(language: string): string {
  if (language.toLowerCase() === 'mermaid') return 'Diagram (Mermaid)'
  return highlighter().getLanguage(language)?.name ?? (language.length > 40 ? `${language.slice(0, 40)}…` : language)
}

/**
 * Code as HTML with its tokens in spans, whose classes the stylesheet colours. Null when the language is unknown or a
 * line has 500 characters or more. The time can grow with the square of the length, so the caller must bound the
 * length.
 */
export function highlightCode(code: string, language: string): string | null {
  if (highlighter().getLanguage(language) === undefined || /.{500}/.test(code)) return null
  return highlighter().highlight(code, { language, ignoreIllegals: true }).value
}
