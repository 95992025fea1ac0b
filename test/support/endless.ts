import { computation } from '../../shared/computations/computation.ts'
import type { IndexChange, IndexSource } from '../../shared/search/index/index-document.ts'
import { indexDocument } from '../../workers/runtime/computations.ts'
import type { ProjectionInput } from '../../workers/runtime/projection.ts'

/** Indexes a document, but never comes to an end of one that holds the word ENDLESS. @public */
export function indexUnlessEndless(input: ProjectionInput<IndexSource>): IndexChange {
  while (input.source.body.includes('ENDLESS'));
  return indexDocument(input)
}

/** The search index of documents, with no limit but that of the setting: in a thread, `ENDLESS` never ends. */
export const endlessIndexing = computation({
  module: import.meta.url,
  run: indexUnlessEndless,
  isSmall: ({ source }) => !source.body.includes('ENDLESS'),
  cpuMs: () => Number.POSITIVE_INFINITY,
})

/** Echoes its input, but never comes to an end of the text `endless`, and fills the memory with `greedy`. @public */
export function echo(text: string): string {
  while (text === 'endless');
  const hoard: number[][] = []
  while (text === 'greedy') hoard.push(new Array(100_000).fill(hoard.length))
  return text
}

/** `echo` in a thread, with a fifth of a second of processor time. */
export const echoing = computation({ module: import.meta.url, run: echo, isSmall: () => false, cpuMs: () => 200 })
