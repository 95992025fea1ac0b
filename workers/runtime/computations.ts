import { type ChainGrowth, type ChainSource, growChain, lengthOf } from '../../shared/changes/project.ts'
import { computation } from '../../shared/computations/computation.ts'
import type { FoundCandidate } from '../../shared/concepts/candidates/extract.ts'
import { type CandidateSource, findCandidates } from '../../shared/concepts/candidates/refresh.ts'
import { compareLinks, type InlineRelationChange, type LinkSource } from '../../shared/relations/extract.ts'
import { computeIndex, type IndexChange, type IndexSource } from '../../shared/search/index/index-document.ts'
import { type RefreshSource, summariesOf, type TextSummary } from '../../shared/summaries/refresh.ts'
import type { ProjectionComputation, ProjectionInput } from './projection.ts'

/*
 * The computations of the projections, each about one document. Threads load this module, so it imports no worker. A
 * thread calls the functions that are tagged as public by their names.
 */

/** Computes `indexing`. @public */
export function indexDocument({ source, job }: ProjectionInput<IndexSource>): IndexChange {
  return computeIndex(job, source)
}

/** Computes `linking`. @public */
export function linkDocument({ source }: ProjectionInput<LinkSource>): InlineRelationChange {
  return compareLinks(source)
}

/** Computes `extracting`. @public */
export function extractDocument({ source, job }: ProjectionInput<CandidateSource>): FoundCandidate[] {
  return findCandidates(source, job)
}

/** Computes `growing`. @public */
export function growChangeChain({ source }: ProjectionInput<ChainSource>): ChainGrowth {
  return growChain(source)
}

/** Computes `summarising`. @public */
export function summariseDocument({ source, job }: ProjectionInput<RefreshSource>): TextSummary[] {
  return summariesOf(source, job)
}

/** Computes the changes of the search index of a document. */
export const indexing = ofBody(indexDocument)

/** Computes the changes of the inline relations of a document. */
export const linking = ofBody(linkDocument)

/** Computes the concept candidates of a document. */
export const extracting = ofBody(extractDocument)

/** Computes the summaries of a document and of its sections. */
export const summarising = ofBody(summariseDocument)

/** Computes the batches by which the chain of changes of a document grows. */
export const growing = ofText(growChangeChain, ({ source }) => lengthOf(source))

function ofBody<Source extends { body: string }, Result>(
  run: (input: ProjectionInput<Source>) => Result,
): ProjectionComputation<Source, Result> {
  return ofText(run, ({ source }) => source.body.length)
}

// Ordinary text takes 0.3 µs a character. The limit of 20 µs a character lets no hostile text occupy a thread for long.
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
