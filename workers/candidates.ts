import type { FoundCandidate } from '../shared/concepts/candidates/extract.ts'
import {
  type CandidateSource,
  extracting,
  loadCandidateSource,
  lockExtraction,
  writeCandidates,
} from '../shared/concepts/candidates/refresh.ts'
import { queues } from '../shared/jobs/queues.ts'
import { oneByOne, type Projection } from './runtime/projection.ts'
import { defineProjection } from './runtime/projection-worker.ts'

/**
 * The projection of concept candidates. A document takes part once somebody has asked for its candidates. Candidates
 * depend on body and title. @internal
 */
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

/** Derives the candidates of documents, in the worker type `candidates`. */
export const candidateRefresher = defineProjection(candidatesProjection)
