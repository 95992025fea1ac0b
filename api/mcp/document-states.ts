import { type Static, Type } from 'typebox'
import { type DocumentsRead, tokensOfOne } from '../../shared/reading/schema.ts'
import { Version } from '../../shared/schema/identifiers.ts'
import { afterWrite, storedNote } from './after-write.ts'
import type { Door } from './door.ts'
import type { ToolUse } from './tool.ts'

/**
 * The documents that a write has touched: the version of each body, and whether searches show its present state. That
 * is `freshness.search` of the route that reads several documents.
 */
const DocumentStates = Type.Array(Type.Object({ id: Type.String(), version: Version, search: Type.String() }))
type DocumentStates = Static<typeof DocumentStates>

/** The members of an answer to a write that touches documents. `note` stands in when their states cannot be read. */
export const touchedMembers = {
  documents: Type.Optional(DocumentStates),
  note: Type.Optional(Type.String()),
}

/**
 * Reads the states of at most a hundred documents, for the answer to a stored write. A document that has gone meanwhile
 * is left out. Never throws, since the write is stored.
 */
export async function touchedDocuments(
  use: ToolUse,
  ids: readonly string[],
): Promise<{ documents: DocumentStates } | { note: string }> {
  const read = await afterWrite(use, () => documentStates(use.door, ids))
  if (read.value !== null) return { documents: read.value }
  return { note: `${storedNote('the versions could not be read', read.code)}: read shows the version of a document.` }
}

async function documentStates(door: Door, ids: readonly string[]): Promise<DocumentStates> {
  const { data } = await door<Static<typeof DocumentsRead>>({
    operationId: 'readDocuments',
    body: { ids, view: 'outline', max_tokens: tokensOfOne.least * ids.length },
  })
  return data.flatMap((item) =>
    'error' in item ? [] : [{ id: item.id, version: item.version, search: item.freshness.search }],
  )
}
