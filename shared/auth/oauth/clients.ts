import Type from 'typebox'
import { type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { isStorable } from '../../schema/strings.ts'

/**
 * The most registered programs that nobody has approved. One more makes the oldest of them forgotten, so a flood of
 * registrations neither fills the table nor keeps others from registering.
 * @internal
 */
export const mostUnapproved = 10_000

/** Stores a program that has registered itself. `metadata` is its metadata of RFC 7591. */
export async function insertClient(db: Queryable, client: { id: string; metadata: object }): Promise<void> {
  await db.query(sql.unsafe`
    INSERT INTO oauth_clients (id, metadata) VALUES (${client.id}, ${JSON.stringify(client.metadata)}::json)`)
  await db.query(sql.unsafe`
    DELETE FROM oauth_clients WHERE id IN (
      SELECT id FROM oauth_clients WHERE approved_at IS NULL
      ORDER BY created_at DESC, id DESC OFFSET ${mostUnapproved} LIMIT 100)`)
}

const MetadataRow = row(Type.Object({ metadata: Type.Unsafe<Record<string, unknown>>({}) }))

/** The metadata of a registered program; null for an unknown id. */
export async function findClient(db: Queryable, id: string): Promise<Record<string, unknown> | null> {
  if (!isStorable(id)) return null
  const found = await db.maybeOne(sql.type(MetadataRow)`SELECT metadata FROM oauth_clients WHERE id = ${id}`)
  return found?.metadata ?? null
}
