import { documentToLines } from '../../../shared/body/canonical.ts'
import { writeBody } from '../../../shared/body/content.ts'
import { assemble, fromMarkdown } from '../../../shared/body/markdown/from-markdown.ts'
import { parseMarkdown } from '../../../shared/body/markdown/parse.ts'
import { StoredBlocks } from '../../../shared/body/markdown/stored-blocks.ts'
import { linesToMarkdown, toMarkdown } from '../../../shared/body/markdown/to-markdown.ts'
import { writeBack } from '../../../shared/body/markdown/write-back.ts'
import { replaceDestinations } from '../../../shared/import/destinations.ts'
import { markdownOutline, planOfMarkdown } from '../../../shared/import/markdown-plan.ts'
import type { ImportSource } from '../../../shared/import/source.ts'
import type { Entry } from '../entry.ts'

// As the settings have them.
const limits = { characterLimit: 1_000_000, byteLimit: 8 * 1024 * 1024 }
const writing = { path: '', anchors: true, ...limits }

/** Markdown as the API and the importer read it. */
export const markdownEntries: readonly Entry[] = [
  {
    name: 'Markdown',
    input: (text) => text,
    uses: { parseMarkdown: (text) => parseMarkdown({ markdown: text, ...limits }) },
  },
  {
    name: 'parsed Markdown',
    input: (text) => parseMarkdown({ markdown: text, ...limits }),
    uses: { assemble: (parsed) => assemble(parsed, { stored: new StoredBlocks([]) }) },
  },
  {
    name: 'Markdown that is written back',
    input: (text) => {
      const stored = fromMarkdown(text, limits).result
      const { markdown } = toMarkdown(stored, { anchors: true })
      return { lines: documentToLines(stored), markdown, parsed: parseMarkdown({ markdown, ...limits }) }
    },
    uses: {
      linesToMarkdown: ({ lines }) => linesToMarkdown(lines, { anchors: true }),
      assemble: ({ lines, parsed }) => assemble(parsed, { stored: new StoredBlocks(lines) }),
      writeBack: ({ lines, markdown }) => writeBack(markdown, { stored: new StoredBlocks(lines), ...limits }),
    },
  },
  {
    name: 'Markdown over a body of the same Markdown',
    input: (text) => {
      const content = { format: 'markdown', content: text } as const
      return { content, storedText: writeBody({ ...content, storedText: null, ...writing }).text }
    },
    uses: {
      writeBody: ({ content, storedText }) => writeBody({ ...content, storedText, ...writing }),
      'writeBody with ids=match': ({ content, storedText }) =>
        writeBody({ ...content, storedText, ...writing, ids: 'match' }),
    },
  },
  { name: 'imported Markdown', input: (text) => text, uses: { markdownOutline: (text) => markdownOutline(text) } },
  {
    name: 'addresses of imported Markdown',
    input: (text) => ({ text, destinations: markdownOutline(text).destinations }),
    uses: { replaceDestinations: ({ text, destinations }) => replaceDestinations(text, destinations, () => 'x') },
  },
  {
    name: 'a folder of Markdown',
    input: (text) => sourceOf(text),
    uses: { planOfMarkdown: (source) => planned(source) },
  },
]

/** One file of a text and many files whose names come from the text. */
function sourceOf(text: string): ImportSource {
  const names = (text.match(/[^\s]{1,8}/gu) ?? []).map((piece, index) => `${index}/${piece}.md`)
  return {
    name: 'source',
    names: new Set(['a.md', 'b.png', ...names]),
    skipped: [],
    read: async (name) => Buffer.from(name === 'a.md' ? text : 'a'),
    close: async () => {},
  }
}

async function planned(source: ImportSource): Promise<unknown> {
  const { documents, folders } = await planOfMarkdown(source)
  const first = documents.find(({ key }) => key === 'a.md')
  const body = await first?.read()
  return [folders.length, body?.content({ document: () => 'doc_2', attachment: () => 'att_2' })]
}
