import { computation } from '../../shared/computations/computation.ts'
import type { FoundCandidate } from '../../shared/concepts/candidates/extract.ts'
import { type ExtractionSource as CandidateSource, findCandidates } from '../../shared/concepts/candidates/refresh.ts'
import { compareLinks, type ExtractionSource as LinkSource } from '../../shared/relations/extract.ts'
import type { InlineChange } from '../../shared/relations/extraction-queries.ts'
import { computeIndex, type IndexChange, type IndexSource } from '../../shared/search/index/index-document.ts'
import type { ProjectionComputation, ProjectionInput } from './projection.ts'

// What projections compute of one document each. A thread loads this module, so it imports nothing of the workers.

/** The work of `indexing`, which a thread calls by its name. @public */
export function indexDocument({ source, job }: ProjectionInput<IndexSource>): IndexChange {
  return computeIndex(job, source)
}

/** The work of `linking`, which a thread calls by its name. @public */
export function linkDocument({ source }: ProjectionInput<LinkSource>): InlineChange {
  return compareLinks(source)
}

/** The work of `extracting`, which a thread calls by its name. @public */
export function extractDocument({ source, job }: ProjectionInput<CandidateSource>): FoundCandidate[] {
  return findCandidates(source, job)
}

/** What of the search index of a document has to change. */
export const indexing = ofBody(indexDocument)

/** What of the inline relations of a document has to change. */
export const linking = ofBody(linkDocument)

/** Which candidates a document holds. */
export const extracting = ofBody(extractDocument)

// Ordinary text takes 0.3 µs a character; a hostile one, which needs few, must not hold a place for long.
function ofBody<Source extends { body: string }, Result>(
  run: (input: ProjectionInput<Source>) => Result,
): ProjectionComputation<Source, Result> {
  return computation({
    module: import.meta.url,
    run,
    isSmall: ({ source }) => source.body.length <= 32 * 1024,
    cpuMs: ({ source }) => 2000 + source.body.length * 0.02,
  })
}
