import type { Queryable } from '../database/database.ts'
import { type Reads, readsOf, tierQueryOf } from './narrowing.ts'
import { type PassOptions, runPass, type TopK, type TopKQuery } from './pass.ts'
import { type Cut, completeCut, isComplete } from './ranking/cuts.ts'
import { planTiers } from './ranking/plan-tiers.ts'
import { newestReads } from './ranking/tuning.ts'
import type { NewestSource } from './statement/request.ts'

/**
 * Finds the best matches. PostgreSQL ranks a bounded number of blocks, the candidates, by an estimate of their score.
 * Node then ranks the best candidates exactly. While matches are few, all are candidates. Of many matches a pass reads
 * a cut, in which some term has a high impact. Wider cuts follow until there are enough hits, and narrower cuts where a
 * cut has too many candidates. All hits come from one statement.
 *
 * Where filters leave few documents, their blocks are read instead of all matches.
 */
export async function topK(db: Queryable, query: TopKQuery): Promise<TopK> {
  const reads = readsOf(query)
  if (query.sort === 'updated_at') return newestFirst(db, { query, reads })
  const pass = (at: Omit<PassOptions, 'read'>) =>
    runPass(db, { query, read: isComplete(at.cut) && reads.documents ? 'documents' : 'words', ...at })
  const { cuts, first } = planTiers(tierQueryOf(query))
  let index = first
  let narrower = null as Cut | null
  for (;;) {
    const [cut, next] = [cuts[index] as Cut, cuts[index + 1]]
    let found = await pass({ cut, narrower: null })
    // A pass over a cut with too many candidates sees only some of them. The next pass sees at least all candidates of
    // the narrower cut.
    if (found.truncated && narrower !== null) found = await pass({ cut, narrower })
    if (!found.enough && index > 0) {
      narrower = cut
      index = nextWiderCut(cuts, { index, candidates: found.answer.candidates, limit: query.limit })
    } else if (found.truncated && found.enough && next !== undefined && narrower === null) index += 1
    // All candidates may have been out of scope, so the last pass reads documents in scope only.
    else return found.truncated && !found.enough ? await pass({ cut, narrower, inScopeOnly: true }) : found
  }
}

/**
 * The index of the next wider cut that may hold enough matches, after a cut had `candidates`. Terms that seldom stand
 * in the same block are seldom together in any cut. So one factor corrects the estimates of all cuts. The cut of all
 * matches comes last.
 */
function nextWiderCut(cuts: readonly Cut[], from: { index: number; candidates: number; limit: number }): number {
  const { index, candidates, limit } = from
  const correction = Math.max(1, candidates) / (cuts[index]?.size ?? 1)
  const enough = cuts.slice(1, index).findLastIndex(({ size }) => size === null || size * correction > limit)
  return enough < 0 ? Math.min(index - 1, 1) : enough + 1
}

/**
 * Finds the matches in the documents that were changed last. If the words are rare, or filters leave few documents, all
 * matches are looked at. Otherwise a window of the newest documents is looked through first.
 */
async function newestFirst(db: Queryable, { query, reads }: { query: TopKQuery; reads: Reads }): Promise<TopK> {
  const pass = (newest: NewestSource) =>
    runPass(db, { query, cut: completeCut(query.terms), narrower: null, read: { newest } })
  if (reads.cost > newestReads) {
    const found = await pass('window')
    if (found.enough) return found
  }
  return pass(reads.documents ? 'listed' : 'words')
}
