import { type IndexStatistics, sumOf } from './ranking/selectivity.ts'
import { workspaceBounds } from './ranking/tuning.ts'
import type { Recheck, SearchScope } from './statement/request.ts'
import { quoteLexeme, workspaceLexeme } from './text/lexemes.ts'

/**
 * The tsquery of the workspaces in scope where they hold a small part of all blocks, else null. Reading the lists of
 * large workspaces, or of very many, would cost more than checking the workspace of each row.
 */
export function workspacesOf(scope: SearchScope, statistics: IndexStatistics): string | null {
  const { length } = scope.workspaceIds
  const { few, partOfFew, most, partOfMany } = workspaceBounds
  if (shareOfWorkspaces(scope, statistics) >= (length <= few ? partOfFew : partOfMany) || length > most) return null
  return scope.workspaceIds.map((id) => quoteLexeme(workspaceLexeme(id))).join(' | ')
}

/** The share of all blocks that is in some workspaces. */
export function shareOfWorkspaces({ workspaceIds }: SearchScope, { shares, rarest }: IndexStatistics): number {
  return Math.min(1, sumOf(workspaceIds.map((id) => shares.get(workspaceLexeme(id)) ?? rarest)))
}

/** The tsquery of the titles that a search asks for, in its workspaces where they are small; null for no titles. */
export function titleInScope(
  { title }: Recheck,
  { scope, statistics }: { scope: SearchScope; statistics: IndexStatistics },
): string | null {
  return title === null ? null : allOf([title, workspacesOf(scope, statistics)])
}

/** The tsquery of the blocks that match all parts; parts that are null are left out. */
export function allOf(parts: readonly (string | null)[]): string {
  return parts
    .filter((part) => part !== null)
    .map((part) => `(${part})`)
    .join(' & ')
}
