import { namesOfUsers } from '../../../shared/auth/queries.ts'
import { versionPage } from '../../../shared/body/queries.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import type { DocumentRow } from '../../../shared/documents/queries.ts'
import { type Moment, momentOf } from '../render.ts'

/** A kept version as a page lists it. `author` is null when the account is gone. */
export type ListedVersion = { seq: number; kept: Moment; author: string | null }

/** The current text as a page lists it. */
export type CurrentText = { changed: Moment; author: string | null }

/** A page of the history of a document, newest first. `older` is the number before which the next page begins. */
export type VersionList = { current: CurrentText; versions: ListedVersion[]; older: number | null }

// The most versions on a page.
const shownAtOnce = 20

/** A kept version of a document with the name of its author, or null. */
export async function findVersion(
  db: Queryable,
  { document, seq }: { document: DocumentRow; seq: number },
): Promise<ListedVersion | null> {
  const { versions } = await listVersions(db, { document, before: seq + 1 })
  return versions.find((version) => version.seq === seq) ?? null
}

/** Reads a page of the kept versions with the names of their authors. With `before`, only versions with lower numbers. */
export async function listVersions(
  db: Queryable,
  { document, before }: { document: DocumentRow; before: number | null },
): Promise<VersionList> {
  const rows = await versionPage(db, document, { before, limit: shownAtOnce })
  const ids = [...rows.map(({ created_by }) => created_by), document.updated_by].filter((id) => id !== null)
  const names = await namesOfUsers(db, ids)
  const nameOf = (id: string | null) => (id === null ? null : (names.get(id) ?? null))
  const versions = rows.slice(0, shownAtOnce).map(({ seq, created_at, created_by }) => {
    return { seq, kept: momentOf(created_at), author: nameOf(created_by) }
  })
  return {
    current: { changed: momentOf(document.updated_at), author: nameOf(document.updated_by) },
    versions,
    older: rows.length > shownAtOnce ? (versions.at(-1)?.seq ?? null) : null,
  }
}
