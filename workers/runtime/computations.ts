import { type ChainGrowth, type ChainSource, growChain, lengthOf } from '../../shared/changes/project.ts'
import { computation } from '../../shared/computations/computation.ts'
import type { FoundCandidate } from '../../shared/concepts/candidates/extract.ts'
import { type CandidateSource, findCandidates } from '../../shared/concepts/candidates/refresh.ts'
import { compareLinks, type InlineRelationChange, type LinkSource } from '../../shared/relations/extract.ts'
import { computeIndex, type IndexChange, type IndexSource } from '../../shared/search/index/index-document.ts'
import { type RefreshSource, summariesOf, type TextSummary } from '../../shared/summaries/refresh.ts'
import type { ProjectionComputation, ProjectionInput } from './projection.ts'

// What projections compute of one document each. A thread loads this module, so it imports nothing of the workers.

/** The work of `indexing`, which a thread calls by its name. @public */
export function indexDocument({ source, job }: ProjectionInput<IndexSource>): IndexChange {
  return computeIndex(job, source)
}

/** The work of `linking`, which a thread calls by its name. @public */
export function linkDocument({ source }: ProjectionInput<LinkSource>): InlineRelationChange {
  return compareLinks(source)
}

/** The work of `extracting`, which a thread calls by its name. @public */
export function extractDocument({ source, job }: ProjectionInput<CandidateSource>): FoundCandidate[] {
  return findCandidates(source, job)
}

/** The work of `growing`, which a thread calls by its name. @public */
export function growChangeChain({ source }: ProjectionInput<ChainSource>): ChainGrowth {
  return growChain(source)
}

/** The work of `summarising`, which a thread calls by its name. @public */
export function summariseDocument({ source, job }: ProjectionInput<RefreshSource>): TextSummary[] {
  return summariesOf(source, job)
}

/** What of the search index of a document has to change. */
export const indexing = ofBody(indexDocument)

/** What of the inline relations of a document has to change. */
export const linking = ofBody(linkDocument)

/** Which candidates a document holds. */
export const extracting = ofBody(extractDocument)

/** What the summaries of a document and of its sections are now. */
export const summarising = ofBody(summariseDocument)

/** What the chain of changes of a document grows by. */
export const growing = ofText(growChangeChain, ({ source }) => lengthOf(source))

function ofBody<Source extends { body: string }, Result>(
  run: (input: ProjectionInput<Source>) => Result,
): ProjectionComputation<Source, Result> {
  return ofText(run, ({ source }) => source.body.length)
}

// Ordinary text takes 0.3 µs a character; a hostile one, which needs few, must not hold a place for long.
function ofText<Source, Result>(
  run: (input: ProjectionInput<Source>) => Result,
  length: (input: ProjectionInput<Source>) => number,
): ProjectionComputation<Source, Result> {
  return computation({
    module: import.meta.url,
    run,
    isSmall: (input) => length(input) <= 32 * 1024,
    cpuMs: (input) => 2000 + length(input) * 0.02,
  })
}
