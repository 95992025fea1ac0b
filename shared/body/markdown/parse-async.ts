import { ComputationLimitError, computation } from '../../computations/computation.ts'
import { compute } from '../../computations/compute.ts'
import { documentToLines } from '../canonical.ts'
import type { DocNode } from '../document.ts'
import type { Normalised } from '../normalise.ts'
import { refuseNode } from '../normalise-state.ts'
import { assemble, type ImportOptions, toDocument } from './from-markdown.ts'
import { type MarkdownInput, type Parsed, parseMarkdown } from './parse.ts'
import { StoredBlocks } from './stored-blocks.ts'

// The most UTF-16 code units of a text that is parsed without a thread, and the most characters in it that could be
// markers: all but letters, spaces and the marks of sentences. Ordinary Markdown of this length parses in 8 ms. The
// slowest text that was found (a tight list) takes 70 ms.
const inlineLength = 8 * 1024
const inlineMarkers = 512

/**
 * The milliseconds of processor time that a thread may spend on a text of `length` characters. Ordinary Markdown takes
 * 0.6 to 2.8 s a megabyte, and a text of many tiny blocks 70 µs a block. A hostile text can be slow with few
 * characters. The limit keeps such a text from making other texts wait for long.
 */
export function timeLimit(length: number): number {
  return Math.min(10_000, 1000 + length * 0.02)
}

/** True if a text certainly parses at once, because the text is short and has few markers that nest or could pair. */
export function parsesAtOnce(markdown: string): boolean {
  if (markdown.length > inlineLength || nesting.test(markdown)) return false
  return (markdown.match(marker)?.length ?? 0) <= inlineMarkers
}

const nesting = /(?:[>*_[\]!?~`<$=-]\s?){64}/
const marker = /[^\p{L} .,;:'"?!]/gu

/** Declares how a thread parses a text. */
const parsing = computation({
  module: new URL('./parse.ts', import.meta.url).href,
  run: parseMarkdown,
  isSmall: ({ markdown }) => parsesAtOnce(markdown),
  cpuMs: ({ markdown }) => timeLimit(markdown.length),
})

/**
 * Parses a Markdown text without blocking the event loop. Longer texts, and texts that nest suspiciously, are parsed in
 * a thread with limits on time and memory. Refuses with 422 `invalid_markdown_anchor`, `duplicate_block_anchor`,
 * `document_too_large` or `invalid_node`, the last also when a text exceeds the limits. Refuses with 503
 * `service_unavailable` when too many computations wait already.
 */
async function parseMarkdownAsync(input: MarkdownInput): Promise<Parsed> {
  try {
    return await compute(parsing, input)
  } catch (error) {
    throw error instanceof ComputationLimitError ? tooCostly(input.path) : error
  }
}

/**
 * The 422 `invalid_node` for a Markdown text that exceeds the limits; `path` is its JSON pointer within the request.
 */
export function tooCostly(path = ''): Error {
  return refuseNode({ path, blockId: null }, 'the Markdown takes too much time or memory to read')
}

/**
 * Makes the normalised document of a Markdown text without blocking the event loop, for tests and benches. Writes of
 * the API compute the whole body in a thread instead. Refuses with 422 `invalid_markdown_anchor`,
 * `duplicate_block_anchor`, `document_too_large` or `invalid_node`, the last also for a text that takes too much time
 * or memory. Refuses with 503 `service_unavailable` when too many computations wait already. @internal
 */
export async function fromMarkdownAsync(markdown: string, options: ImportOptions = {}): Promise<Normalised<DocNode>> {
  const { stored, ...context } = options
  const lines = stored === undefined ? [] : documentToLines(stored)
  const parsed = await parseMarkdownAsync({ markdown, ...context })
  return toDocument(assemble(parsed, { ...context, stored: new StoredBlocks(lines) }))
}
