import type { WorkerType } from '../shared/process/process-types.ts'
import { candidateRefresher } from './candidates.ts'
import { changesDiffer } from './changes.ts'
import { eventSequencer } from './events.ts'
import { translator } from './localization.ts'
import { relationExtractor } from './relations.ts'
import type { Worker } from './runtime/runtime.ts'
import { searchIndexer } from './search.ts'
import { summaryRefresher, summaryWriter } from './summaries.ts'
import { attachmentSweep } from './sweeps/attachments.ts'
import { searchReindexer } from './sweeps/reindex.ts'
import { retentionSweep } from './sweeps/retention.ts'
import { staleSweep } from './sweeps/stale.ts'
import { summarySweep } from './sweeps/summaries.ts'
import { trashSweep } from './sweeps/trash.ts'

/** The worker types of the Procfile. Each type can run alone, with others, and in several processes. */
export const workerTypes = {
  search: [searchIndexer],
  changes: [changesDiffer],
  relations: [relationExtractor],
  candidates: [candidateRefresher],
  summaries: [summaryWriter, summaryRefresher],
  localization: [translator],
  events: [eventSequencer],
  sweeps: [staleSweep, retentionSweep, summarySweep, attachmentSweep, trashSweep, searchReindexer],
} as const satisfies Record<WorkerType, readonly Worker[]>

/** The workers of the given types. */
export function workersOf(types: readonly WorkerType[]): Worker[] {
  return types.flatMap((type): readonly Worker[] => workerTypes[type])
}

/** Tells whether a word names a worker type. */
export function isWorkerType(word: string): word is WorkerType {
  return Object.hasOwn(workerTypes, word)
}
