import { type Queryable, sql } from '../../database/database.ts'

// How long a registered program is kept: one that nobody has approved, and one without a grant after its last approval.
const unapprovedHours = 24
const unusedDays = 90

/**
 * Deletes expired requests, codes and refresh tokens, and programs that nobody uses. Access tokens and grants stay a
 * day longer, so that a late call is told that its token has expired. At most `batch` rows of each kind are deleted.
 * Returns how many rows were deleted.
 */
export async function deleteExpiredOAuth(db: Queryable, { batch }: { batch: number }): Promise<number> {
  const results = [
    await db.query(sql.unsafe`
      DELETE FROM oauth_artifacts WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM oauth_artifacts WHERE expires_at < now() LIMIT ${batch}))`),
    await db.query(sql.unsafe`
      DELETE FROM tokens WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM tokens WHERE grant_id IS NOT NULL AND expires_at < now() - interval '1 day' LIMIT ${batch}))`),
    await db.query(sql.unsafe`
      DELETE FROM oauth_grants WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM oauth_grants WHERE expires_at < now() - interval '1 day' LIMIT ${batch}))`),
    await db.query(sql.unsafe`
      DELETE FROM oauth_clients WHERE ctid = ANY(ARRAY(
        SELECT ctid FROM oauth_clients
        WHERE approved_at IS NULL AND created_at < now() - make_interval(hours => ${unapprovedHours}) LIMIT ${batch}))`),
    await db.query(sql.unsafe`
      DELETE FROM oauth_clients WHERE ctid = ANY(ARRAY(
        SELECT c.ctid FROM oauth_clients c
        WHERE c.approved_at < now() - make_interval(days => ${unusedDays})
          AND NOT EXISTS (SELECT FROM oauth_grants g WHERE g.client_id = c.id)
        LIMIT ${batch}))`),
  ]
  return results.reduce((sum, { rowCount }) => sum + rowCount, 0)
}
