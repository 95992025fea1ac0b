import type { FoundCandidate } from '../shared/concepts/candidates/extract.ts'
import {
  type CandidateSource,
  loadCandidateSource,
  lockExtraction,
  writeCandidates,
} from '../shared/concepts/candidates/refresh.ts'
import { queues } from '../shared/jobs/queues.ts'
import { extracting } from './runtime/computations.ts'
import { defineProjection } from './runtime/define-projection.ts'
import { oneByOne } from './runtime/one-by-one.ts'
import type { Projection } from './runtime/projection.ts'

/** The candidates of documents that were extracted once; they depend on body and title (decisions B). */
export const candidatesProjection: Projection<CandidateSource, FoundCandidate[]> = oneByOne({
  name: 'candidates',
  queue: queues.candidatesRefresh,
  load: loadCandidateSource,
  compute: extracting,
  sameSource: (source, current) => source.version === current.version && source.title === current.title,
  projectedSeq: lockExtraction,
  async write(tx, job, derived) {
    await writeCandidates(tx, job, derived)
  },
})

/** The worker type `candidates`. */
export const candidateRefresher = defineProjection(candidatesProjection)
