import type { BodyNode } from '../../body/document.ts'
import { parsesAtOnce, timeLimit } from '../../body/markdown/parse-async.ts'
import { type Computation, ComputationLimitError, computation } from '../../computations/computation.ts'
import { compute } from '../../computations/compute.ts'
import { faithfulMarkdown, type InlineMarkdown, translatedContent } from './markdown.ts'

/** A translation that a model has returned, with the text that it translates. */
type Answered = { inline: InlineMarkdown; translation: string }

/**
 * Writes inline content as Markdown that is read back as the same content, in a thread where this may take long.
 * Returns null when there is no such Markdown, and for content that takes too much time or memory.
 */
export function computeMarkdown(content: readonly BodyNode[]): Promise<InlineMarkdown | null> {
  return withinLimits(writing, content)
}

/**
 * Reads the answer of a model as inline content, in a thread where this may take long. Returns null when the answer has
 * another structure than the original, and for an answer that takes too much time or memory.
 */
export function computeContent(answered: Answered): Promise<BodyNode[] | null> {
  return withinLimits(reading, answered)
}

/**
 * Writes inline content as Markdown that is read back as the same content, or returns null. A thread calls this
 * function by its name. @public
 */
export function computeInlineContent(content: readonly BodyNode[]): InlineMarkdown | null {
  return faithfulMarkdown(content)
}

/**
 * Reads the answer of a model as inline content, or returns null for an answer of another structure. A thread calls
 * this function by its name. @public
 */
export function readTranslation({ inline, translation }: Answered): BodyNode[] | null {
  return translatedContent(inline, translation)
}

const writing = computation({
  module: import.meta.url,
  run: computeInlineContent,
  isSmall: (content) => parsesAtOnce(JSON.stringify(content)),
  cpuMs: (content) => 2 * timeLimit(JSON.stringify(content).length),
})

const reading = computation({
  module: import.meta.url,
  run: readTranslation,
  isSmall: ({ inline, translation }) => parsesAtOnce(inline.markdown) && parsesAtOnce(translation),
  cpuMs: ({ inline, translation }) => timeLimit(inline.markdown.length + translation.length),
})

async function withinLimits<Input, Output>(declared: Computation<Input, Output>, input: Input): Promise<Output | null> {
  try {
    return await compute(declared, input)
  } catch (error) {
    if (error instanceof ComputationLimitError) return null
    throw error
  }
}
