import { assemble } from '../../../shared/body/markdown/from-markdown.ts'
import { parseMarkdown } from '../../../shared/body/markdown/parse.ts'
import { toMarkdown } from '../../../shared/body/markdown/to-markdown.ts'
import { outlineOf, replaceDestinations } from '../../../shared/import/markdown-links.ts'
import type { Entry } from '../entry.ts'

/** Markdown as the API and the importer read it. */
export const markdownEntries: readonly Entry[] = [
  { name: 'Markdown', input: (text) => text, uses: { parseMarkdown: (text) => parseMarkdown(text) } },
  {
    name: 'parsed Markdown',
    input: (text) => parseMarkdown(text),
    uses: { assemble: (parsed) => assemble(parsed, {}) },
  },
  {
    name: 'Markdown that is written back',
    input: (text) => {
      const stored = assemble(parseMarkdown(text), {}).result
      return { stored, parsed: parseMarkdown(toMarkdown(stored, { anchors: true }).markdown) }
    },
    uses: { assemble: ({ stored, parsed }) => assemble(parsed, { stored }) },
  },
  {
    name: 'imported Markdown',
    input: (text) => text,
    uses: { outlineOf: (text) => outlineOf(text) },
  },
  {
    name: 'addresses of imported Markdown',
    input: (text) => ({ text, destinations: outlineOf(text).destinations }),
    uses: { replaceDestinations: ({ text, destinations }) => replaceDestinations(text, destinations, () => 'x') },
  },
]
