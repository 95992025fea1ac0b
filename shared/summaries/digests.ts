import type { Queryable } from '../database/database.ts'
import { type Digest, digestOf } from './digest.ts'
import {
  currentBodies,
  type DocumentHead,
  type DocumentSelection,
  documentHeads,
  keepDigests,
} from './digest-queries.ts'

/** A document with the digest of exactly this version. */
export type DigestedDocument = { workspace_id: string; id: string; title: string; version: string; digest: Digest }

/**
 * Documents with their digests. Those that are not kept are made of the bodies, some megabytes at a time, and kept for
 * the next reader; a document that was rewritten meanwhile comes in its newer version.
 */
export async function digestedDocuments(db: Queryable, selection: DocumentSelection): Promise<DigestedDocument[]> {
  const heads = await documentHeads(db, selection)
  const made = new Map<string, DigestedDocument>()
  // In the order of their ids, so that two that keep the same digests in their transactions cannot deadlock.
  const missing = heads.filter(({ digest }) => digest === null).sort((a, b) => (a.id < b.id ? -1 : 1))
  for (const batch of batchesOf(missing)) {
    const bodies = await currentBodies(db, { workspaceIds: selection.workspaceIds, ids: batch.map(({ id }) => id) })
    const digested = bodies.map(({ body, ...document }) => ({ ...document, digest: digestOf(body.split('\n')) }))
    await keepDigests(db, digested)
    for (const document of digested) made.set(document.id, document)
  }
  return heads.flatMap(({ character_count: _size, digest, ...head }) => {
    const document = digest === null ? made.get(head.id) : { ...head, digest }
    return document === undefined ? [] : [document]
  })
}

const batchCharacters = 2_000_000
const batchDocuments = 500

function batchesOf(heads: readonly DocumentHead[]): DocumentHead[][] {
  const batches: DocumentHead[][] = []
  let room = 0
  for (const head of heads) {
    const batch = batches.at(-1)
    if (batch === undefined || room < head.character_count || batch.length === batchDocuments) {
      batches.push([head])
      room = batchCharacters - head.character_count
    } else {
      batch.push(head)
      room -= head.character_count
    }
  }
  return batches
}
