import { computation } from '../../shared/computations/computation.ts'
import type { ProjectionInput } from '../../shared/jobs/projections/computation.ts'
import { type IndexChange, type IndexSource, indexDocument } from '../../shared/search/index/index-document.ts'

/** Indexes a document. Never ends for a document with the word ENDLESS. @public */
export function indexUnlessEndless(input: ProjectionInput<IndexSource>): IndexChange {
  while (input.source.body.includes('ENDLESS'));
  return indexDocument(input)
}

/**
 * A search projection whose only limit is the setting WORKER_COMPUTE_MS. Documents with the words LARGE and ENDLESS are
 * computed in a thread; ENDLESS never ends.
 */
export const endlessIndexing = computation({
  module: import.meta.url,
  run: indexUnlessEndless,
  isSmall: ({ source }) => !/ENDLESS|LARGE/.test(source.body),
  cpuMs: () => Number.POSITIVE_INFINITY,
})

/**
 * Returns its input. Takes half a second of processor time for the text `slow`, never ends for `endless`, and fills the
 * memory for `greedy`. @public
 */
export function echo(text: string): string {
  const before = process.threadCpuUsage()
  while (text === 'slow' && process.threadCpuUsage(before).user < 500_000);
  while (text === 'endless');
  const hoard: number[][] = []
  while (text === 'greedy') hoard.push(new Array(100_000).fill(hoard.length))
  return text
}

/** Runs `echo` in a thread, with a limit of 0.2 s of processor time. */
export const echoing = computation({ module: import.meta.url, run: echo, isSmall: () => false, cpuMs: () => 200 })
