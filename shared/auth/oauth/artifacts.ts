import Type, { type Static } from 'typebox'
import type { Config } from '../../config/config.ts'
import { type Queryable, sql } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import { Nullable } from '../../schema/identifiers.ts'
import { keyedHash } from '../keyed-hash.ts'

/** A kind of secret that is stored for a while: a request that waits for its person, a code, a refresh token. */
export type ArtifactKind = 'Interaction' | 'AuthorizationCode' | 'RefreshToken'

/** The secret that names a stored artifact. */
export type ArtifactKey = { kind: ArtifactKind; secret: string }

/**
 * The most requests that wait for their persons. One more makes the oldest of them forgotten, so that links which
 * nobody decides about do not fill the table.
 * @internal
 */
export const mostWaiting = 10_000

type Context = { db: Queryable; config: Pick<Config, 'TOKEN_PEPPER'> }

/**
 * Stores an artifact, or replaces what is stored under its secret. `grantId` is null for a request that waits. Only a
 * hash of the secret is stored. `seconds` is how long the artifact lives.
 */
export async function storeArtifact(
  { db, config }: Context,
  artifact: ArtifactKey & { grantId: string | null; payload: object; seconds: number },
): Promise<void> {
  const { kind, grantId, payload, seconds } = artifact
  await db.query(sql.unsafe`
    INSERT INTO oauth_artifacts (id_hash, kind, grant_id, payload, expires_at)
    VALUES (${sql.binary(hashOf(config, artifact))}, ${kind}, ${grantId}, ${JSON.stringify(payload)}::json,
      now() + make_interval(secs => ${seconds}))
    ON CONFLICT (id_hash) DO UPDATE SET payload = excluded.payload`)
  if (kind !== 'Interaction') return
  await db.query(sql.unsafe`
    DELETE FROM oauth_artifacts WHERE id_hash IN (
      SELECT id_hash FROM oauth_artifacts WHERE kind = 'Interaction'
      ORDER BY expires_at DESC, id_hash DESC OFFSET ${mostWaiting} LIMIT 100)`)
}

const ArtifactShape = Type.Object({
  payload: Type.Unsafe<Record<string, unknown>>({}),
  expires_at: Type.Number(),
  is_used: Type.Boolean(),
})

/** What is stored under the secret of a code or refresh token; times in Unix milliseconds. */
type Artifact = Static<typeof ArtifactShape>

// A client whose calls run in parallel refreshes once for each of them, with the same token. For so long after its
// first use, a refresh token does not count as used. Seconds.
const refreshLeeway = 30

/** What is stored of the request that waits under a secret; null when there is none. */
export function findInteraction({ db, config }: Context, secret: string): Promise<Artifact['payload'] | null> {
  return db.maybeOneFirst(sql.type(row(Type.Pick(ArtifactShape, ['payload'])))`
    SELECT payload FROM oauth_artifacts
    WHERE id_hash = ${sql.binary(hashOf(config, { kind: 'Interaction', secret }))} AND expires_at > now()`)
}

/**
 * The code or refresh token, used or not; null when it is unknown or its grant was revoked. Both rows are locked, so of
 * two exchanges at once the second sees what the first has done, and a revocation waits for an exchange.
 */
export async function lockArtifact({ db, config }: Context, key: ArtifactKey): Promise<Artifact | null> {
  // The grant comes first: an exchange with an earlier token of the grant stores the token that another exchange locks.
  await db.query(sql.unsafe`
    SELECT FROM oauth_grants WHERE id = (
      SELECT grant_id FROM oauth_artifacts WHERE id_hash = ${sql.binary(hashOf(config, key))})
    FOR NO KEY UPDATE`)
  return db.maybeOne(sql.type(row(ArtifactShape))`
    SELECT a.payload, a.expires_at, a.used_at IS NOT NULL AND NOT (
      a.kind = 'RefreshToken' AND a.used_at > now() - make_interval(secs => ${refreshLeeway})) AS is_used
    FROM oauth_artifacts a JOIN oauth_grants g ON g.id = a.grant_id
    WHERE a.id_hash = ${sql.binary(hashOf(config, key))} AND g.revoked_at IS NULL
    FOR NO KEY UPDATE`)
}

/** The redirect URI of the request that led to a code; null for an unknown code. */
export function redirectUriOfCode({ db, config }: Context, secret: string): Promise<string | null> {
  return db.maybeOneFirst(sql.type(row(Type.Object({ uri: Nullable(Type.String()) })))`
    SELECT payload ->> 'redirectUri' AS uri FROM oauth_artifacts
    WHERE id_hash = ${sql.binary(hashOf(config, { kind: 'AuthorizationCode', secret }))}`)
}

/**
 * Notes that a code or refresh token was used. The row stays for at least a day, so that a second use is noticed even
 * after the code would have expired.
 */
export async function useArtifact({ db, config }: Context, key: ArtifactKey): Promise<void> {
  await db.query(sql.unsafe`
    UPDATE oauth_artifacts
    SET used_at = coalesce(used_at, now()), expires_at = greatest(expires_at, now() + interval '1 day')
    WHERE id_hash = ${sql.binary(hashOf(config, key))}`)
}

/**
 * The seconds until a refresh token may be used, or null when it may be used at once. So its grant gets at most
 * `mostAnHour` access tokens within an hour, which also bounds its used refresh tokens. The caller has locked the grant
 * in an earlier statement, so the limit is exact.
 */
export async function secondsUntilRefresh(
  { db, config }: Context,
  refresh: { secret: string; mostAnHour: number },
): Promise<number | null> {
  return db.maybeOneFirst(sql.type(row(Type.Object({ seconds: Type.Integer() })))`
    SELECT ceil(extract(epoch FROM t.created_at + interval '1 hour' - now()))::int AS seconds
    FROM oauth_artifacts a JOIN tokens t USING (grant_id)
    WHERE a.id_hash = ${sql.binary(hashOf(config, { kind: 'RefreshToken', secret: refresh.secret }))}
      AND t.created_at > now() - interval '1 hour'
    ORDER BY t.created_at DESC OFFSET ${refresh.mostAnHour - 1} LIMIT 1`)
}

/** Ends the request that waits under a secret. Of two calls at once, one gets true, and the other false. */
export async function endInteraction({ db, config }: Context, secret: string): Promise<boolean> {
  const { rowCount } = await db.query(sql.unsafe`
    DELETE FROM oauth_artifacts WHERE id_hash = ${sql.binary(hashOf(config, { kind: 'Interaction', secret }))}`)
  return rowCount === 1
}

function hashOf({ TOKEN_PEPPER }: Pick<Config, 'TOKEN_PEPPER'>, { kind, secret }: ArtifactKey): Buffer {
  return keyedHash(TOKEN_PEPPER, { purpose: `oauth ${kind}`, text: secret })
}
