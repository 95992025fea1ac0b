import type { Queryable } from '../../database/database.ts'
import { type CurrentSources, currentSources } from '../sources.ts'
import type { CandidateRow, StoredCandidate } from './queries.ts'
import type { ConceptCandidate } from './schema.ts'

/** Returns the version of a candidate as its ETag and its member `version` carry it. */
export function candidateVersion(candidate: Pick<StoredCandidate, 'version'>): string {
  return `candidate:${candidate.version}`
}

/**
 * Returns whether a candidate still follows from its document: the document still has the body in which the candidate
 * was found. For a candidate from the title, the title must be the same, too.
 */
export function followsFrom(candidate: StoredCandidate, document: { version: string; title: string }): boolean {
  const { extractor, source_version, name } = candidate
  return source_version === document.version && (extractor !== 'title' || name === document.title)
}

/** Returns candidates of one workspace as the API shows them. */
export async function presentCandidates(db: Queryable, rows: readonly CandidateRow[]): Promise<ConceptCandidate[]> {
  const workspaceId = rows[0]?.workspace_id ?? ''
  const sources = await currentSources(db, { workspaceId, references: rows.filter(isUncertain) })
  return rows.map((row) => {
    const { workspace_id: _workspace, current_title: _title, ...members } = row
    return { ...members, freshness: freshnessOf(row, sources), version: candidateVersion(row) }
  })
}

// Whether the block of a candidate must be looked up, because the document has another body now.
function isUncertain(row: CandidateRow): boolean {
  return row.block_id !== null && row.current_version !== null && row.current_version !== row.source_version
}

function freshnessOf(row: CandidateRow, sources: CurrentSources): ConceptCandidate['freshness'] {
  const { current_version: version, current_title: title } = row
  if (version === null || title === null) return 'dangling_document'
  if (isUncertain(row) && !sources.hasBlock(row)) return 'dangling_block'
  return followsFrom(row, { version, title }) ? 'current' : 'stale'
}
