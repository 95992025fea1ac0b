import Type, { type Static } from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { Nullable } from '../schema/identifiers.ts'
import { Digest } from './digest.ts'

/** Which documents are asked for: some by id, or all of a knowledge base. */
export type DocumentSelection =
  | { workspaceIds: readonly string[]; ids: readonly string[] }
  | { workspaceIds: readonly string[]; knowledgeBaseId: number }

const HeadShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  title: Type.String(),
  version: Type.String(),
  character_count: Type.Number(),
  digest: Nullable(Digest),
})

/** A document with its digest, where the kept one is of its current version. */
export type DocumentHead = Static<typeof HeadShape>

/** The selected documents that there are. */
export function documentHeads(db: Queryable, selection: DocumentSelection): Promise<readonly DocumentHead[]> {
  const chosen =
    'ids' in selection
      ? sql.fragment`d.id = ANY(${sql.array([...selection.ids], 'text')})`
      : sql.fragment`d.knowledge_base_id = ${selection.knowledgeBaseId}`
  return db.any(sql.type(row(HeadShape))`
    SELECT d.workspace_id, d.id, d.title, d.version, d.character_count, g.digest
    FROM documents d
    LEFT JOIN summary_digests g
      ON g.workspace_id = d.workspace_id AND g.document_id = d.id AND g.version = d.version
    WHERE d.workspace_id = ANY(${sql.array([...selection.workspaceIds], 'text')}) AND ${chosen}`)
}

const BodyRow = row(
  Type.Object({
    workspace_id: Type.String(),
    id: Type.String(),
    title: Type.String(),
    version: Type.String(),
    body: Type.String(),
  }),
)

/**
 * The current bodies of documents, as far as they still exist, in the order of the ids given: all that together have at
 * most so many bytes, and the first in any case.
 */
export function firstBodies(db: Queryable, input: { workspaceId: string; ids: readonly string[]; mostBytes: number }) {
  return db.any(sql.type(FirstBodyRow)`
    SELECT id, body FROM (
      SELECT d.id, b.body, k.place, sum(octet_length(b.body)) OVER (ORDER BY k.place) AS bytes
      FROM unnest(${sql.array([...input.ids], 'text')}) WITH ORDINALITY AS k (id, place)
      JOIN documents d ON d.workspace_id = ${input.workspaceId} AND d.id = k.id
      JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
    ) AS sized
    WHERE bytes <= ${input.mostBytes} OR place = 1
    ORDER BY place`)
}

const FirstBodyRow = row(Type.Object({ id: Type.String(), body: Type.String() }))

/** The current bodies of documents, as far as they still exist. */
export function currentBodies(db: Queryable, input: { workspaceIds: readonly string[]; ids: readonly string[] }) {
  return db.any(sql.type(BodyRow)`
    SELECT d.workspace_id, d.id, d.title, d.version, b.body
    FROM documents d
    JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
    WHERE d.workspace_id = ANY(${sql.array([...input.workspaceIds], 'text')})
      AND d.id = ANY(${sql.array([...input.ids], 'text')})`)
}

/**
 * Keeps digests, in the order of their ids. Documents that are just being written or have gone are left out: a reader
 * never waits for a writer.
 */
export async function keepDigests(
  db: Queryable,
  digests: readonly { workspace_id: string; id: string; version: string; digest: Digest }[],
): Promise<void> {
  const sorted = [...digests].sort((a, b) => (a.id < b.id ? -1 : 1))
  const texts = (column: (digest: (typeof sorted)[number]) => string) => sql.array(sorted.map(column), 'text')
  await db.query(sql.unsafe`
    WITH held AS (
      SELECT d.workspace_id, d.id FROM documents d
      JOIN unnest(${texts(({ workspace_id }) => workspace_id)}, ${texts(({ id }) => id)}) AS k (workspace_id, id)
        USING (workspace_id, id)
      FOR KEY SHARE OF d SKIP LOCKED
    )
    INSERT INTO summary_digests (workspace_id, document_id, version, digest)
    SELECT workspace_id, id, k.version, k.digest::jsonb FROM held
    JOIN unnest(${texts(({ workspace_id }) => workspace_id)}, ${texts(({ id }) => id)},
      ${texts(({ version }) => version)}, ${texts(({ digest }) => JSON.stringify(digest))})
      AS k (workspace_id, id, version, digest) USING (workspace_id, id)
    ORDER BY id
    ON CONFLICT (workspace_id, document_id) DO UPDATE SET version = excluded.version, digest = excluded.digest`)
}
