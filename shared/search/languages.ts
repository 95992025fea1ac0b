import Type from 'typebox'
import { prepared, type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'

// The number of sets of workspaces whose languages a process remembers.
const rememberedScopes = 10_000

/**
 * Runs a search whose words are stemmed in every language of the workspaces. `search` returns its result with the
 * languages that its snapshot contained. If the snapshot has other languages than `search` was given, a document in a
 * new language has been indexed meanwhile. Then the search is repeated. So the languages need not be read before each
 * search.
 */
export async function inAllLanguages<T>(
  db: Queryable,
  workspaceIds: readonly string[],
  search: (languages: readonly string[]) => Promise<{ found: T; languages: readonly string[] }>,
): Promise<T> {
  const key = workspaceIds.join()
  const known = knownLanguages(db)
  let languages = known.get(key) ?? (await languagesOf(db, workspaceIds))
  for (;;) {
    const seen = await search(languages)
    if (known.size >= rememberedScopes) known.clear()
    known.set(key, seen.languages)
    if (seen.languages.join() === languages.join()) return seen.found
    languages = seen.languages
  }
}

const languagesByDatabase = new WeakMap<Queryable, Map<string, readonly string[]>>()

function knownLanguages(db: Queryable): Map<string, readonly string[]> {
  const known = languagesByDatabase.get(db) ?? new Map<string, readonly string[]>()
  languagesByDatabase.set(db, known)
  return known
}

const LanguageRow = row(Type.Object({ language: Type.String() }))

function languagesOf(db: Queryable, workspaceIds: readonly string[]): Promise<readonly string[]> {
  return db.anyFirst(
    prepared(sql.type(LanguageRow)`
    SELECT DISTINCT language FROM search_languages
    WHERE ${inWorkspaces(sql.fragment`workspace_id`, workspaceIds)} ORDER BY language`),
  )
}
