import { ComputationLimitError, computation } from '../../computations/computation.ts'
import { compute } from '../../computations/compute.ts'
import type { DocNode } from '../document.ts'
import type { Normalised } from '../normalise.ts'
import { refuseNode } from '../normalise-state.ts'
import { assemble, type ImportOptions } from './from-markdown.ts'
import { type MarkdownInput, type Parsed, parseMarkdown } from './parse.ts'

// Ordinary Markdown of this length parses in 4 ms; the worst found (setext headings, `*_`) takes below 200 ms.
const inlineLength = 2 * 1024

/**
 * How many milliseconds of its processor the thread may spend on a text of so many characters. Ordinary Markdown takes
 * 0.6 to 2.8 s a megabyte, one of nothing but tiny blocks 70 µs a block; a hostile text, which needs few characters,
 * must not keep those who wait for long.
 */
export function timeLimit(length: number): number {
  return Math.min(10_000, 1000 + length * 0.02)
}

/** Whether a text certainly parses at once: it is short and has few markers that nest or could pair. */
export function parsesAtOnce(markdown: string): boolean {
  return markdown.length <= inlineLength && !isSuspicious(markdown)
}

/** How a thread parses; see `parseMarkdownAsync`. */
const parsing = computation({
  module: new URL('./parse.ts', import.meta.url).href,
  run: parseMarkdown,
  isSmall: ({ markdown }) => parsesAtOnce(markdown),
  cpuMs: ({ markdown }) => timeLimit(markdown.length),
})

/**
 * `parseMarkdown` without holding the event loop: longer texts, and those that nest suspiciously, wait for their turn and
 * are parsed in a thread with a bound on time and memory. Refuses as `parseMarkdown` does, with 422 `invalid_node` a text
 * that breaks the bounds, and with 503 `service_unavailable` when too much waits already.
 */
async function parseMarkdownAsync(input: MarkdownInput): Promise<Parsed> {
  try {
    return await compute(parsing, input)
  } catch (error) {
    throw error instanceof ComputationLimitError ? tooCostly(input.path) : error
  }
}

/** The refusal of a Markdown text that breaks the bounds; `path` is its JSON pointer within the request. */
export function tooCostly(path = ''): Error {
  return refuseNode({ path, blockId: null }, 'the Markdown takes too much time or memory to read')
}

/** `fromMarkdown` for texts of callers; see `parseMarkdownAsync`. */
export async function fromMarkdownAsync(markdown: string, options: ImportOptions = {}): Promise<Normalised<DocNode>> {
  const { stored: _, ...context } = options
  return assemble(await parseMarkdownAsync({ markdown, ...context }), options)
}

// A few kilobytes of markers that nest or could pair are enough to keep the parser busy for seconds.
function isSuspicious(markdown: string): boolean {
  return /(?:[>*_[\]!~`<$=-]\s?){64}/.test(markdown) || (markdown.match(/[[\]*_`<$=]/g)?.length ?? 0) > 1024
}
