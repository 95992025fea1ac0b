import { createRequire } from 'node:module'

type Highlighter = {
  getLanguage: (language: string) => { name?: string } | undefined
  highlight: (code: string, options: { language: string; ignoreIllegals: boolean }) => { value: string }
  unregisterLanguage: (language: string) => void
}

// Its own types would bring those of a browser into every file of the service.
const hljs: Highlighter = createRequire(import.meta.url)('highlight.js/lib/common')

// For hostile text, the time of Markdown grows with the third power of the length, that of the others with the second.
hljs.unregisterLanguage('markdown')

/**
 * The name of a language for readers, such as `TypeScript` for `ts`; what the author has written when it is unknown.
 */
export function languageName(language: string): string {
  if (language.toLowerCase() === 'mermaid') return 'Diagram (Mermaid)'
  return hljs.getLanguage(language)?.name ?? (language.length > 40 ? `${language.slice(0, 40)}…` : language)
}

/**
 * Code as HTML with its parts in spans, whose classes the stylesheet colours. Null when the language is unknown or a
 * line is longer than people write them. The time can grow with the square of the length: the caller bounds it.
 */
export function highlight(code: string, language: string): string | null {
  if (hljs.getLanguage(language) === undefined || /.{500}/.test(code)) return null
  return hljs.highlight(code, { language, ignoreIllegals: true }).value
}
