import type { FoundCandidate } from '../shared/concepts/candidates/extract.ts'
import { extracting, writeCandidates } from '../shared/concepts/candidates/refresh.ts'
import { loadProjectedSources, type ProjectedSource } from '../shared/jobs/projections/queries.ts'
import { queues } from '../shared/jobs/queues.ts'
import { defineProjection, type Projection } from './runtime/projection.ts'

const storedIn = { table: 'concept_extractions' }

/**
 * The projection of concept candidates. A document takes part once somebody has asked for its candidates. Candidates
 * depend on body and title. @internal
 */
export const candidatesProjection: Projection<ProjectedSource, FoundCandidate[]> = {
  name: 'candidates',
  queue: queues.candidatesRefresh,
  storedIn,
  load: (db, jobs) => loadProjectedSources(db, jobs, storedIn),
  compute: extracting,
  sameSource: (source, current) => source.version === current.version && source.title === current.title,
  async write(tx, derived) {
    for (const one of derived) await writeCandidates(tx, one.job, one)
  },
}

/** Derives the candidates of documents, in the worker type `candidates`. */
export const candidateRefresher = defineProjection(candidatesProjection)
