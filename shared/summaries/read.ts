import type { Caller } from '../auth/caller.ts'
import type { SearchDatabase } from '../search/search.ts'
import { findSummaryTarget, requireHeading, requireThere, type TargetRequest } from './find.ts'
import { pendingSummaryJob } from './job-queries.ts'
import { presentDerived, presentStored, summaryTag } from './present.ts'
import { storedSummary } from './queries.ts'
import { summariseQuery } from './query.ts'
import type { Summary } from './schema.ts'
import { currentVersion, derive, findSource } from './source.ts'

/** What a read or save of a summary answers: the summary, and the tag of what is stored. */
export type TaggedSummary = { summary: Summary; tag: string }

/**
 * The summary of a target: the stored one, or a deterministic one made now; with `query` one that is made of the passages
 * that answer it best, and never stored. 404 for what is not visible, 422 `not_a_heading_block`.
 */
export async function readSummary(
  db: SearchDatabase,
  input: { caller: Caller; request: TargetRequest; query: string | undefined },
): Promise<TaggedSummary> {
  const target = await findSummaryTarget(db, input)
  const stored = await storedSummary(db, target)
  const pendingJobId = await pendingSummaryJob(db, target)
  const tag = summaryTag(stored)
  if (stored !== null && input.query === undefined) {
    const version = requireHeading(requireThere(await currentVersion(db, target), target))
    return { summary: presentStored(stored, { target, currentVersion: version, pendingJobId }), tag }
  }
  const source = requireHeading(requireThere(await findSource(db, target), target))
  const about = { target, currentVersion: source.version, pendingJobId }
  if (input.query === undefined) return { summary: presentDerived(await derive(db, { target, source }), about), tag }
  const derived = await summariseQuery(db, { target, source, q: input.query })
  return { summary: presentDerived(derived, { ...about, query: { text: input.query, stored } }), tag }
}
