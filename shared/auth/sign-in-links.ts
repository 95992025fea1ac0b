import Type, { type Static } from 'typebox'
import type { Config } from '../config/config.ts'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { keyedHash } from './keyed-hash.ts'
import { randomText } from './tokens.ts'

/** The path of the page that a link leads to. */
export const signInLinkPath = '/login/link'

/** How long a link works. */
export const signInLinkMinutes = 15

const codeLength = 43
const codeForm = new RegExp(`^[A-Za-z0-9]{${codeLength}}$`)

/**
 * Makes a link that signs the user of an email in, once. `expires_at` is in Unix milliseconds. Returns null when nobody
 * has the email. The code stands behind the `#`, which browsers send to no server: so it gets into no log and into no
 * Referer, and a program that only looks at links does not use it up.
 */
export async function createSignInLink(
  { db, config }: { db: Queryable; config: Pick<Config, 'SESSION_SECRET' | 'PUBLIC_ORIGIN'> },
  email: string,
): Promise<{ email: string; sign_in_link: string; expires_at: number } | null> {
  const code = randomText(codeLength)
  const stored = await insertSignInLink(db, { email, codeHash: hashOf(config.SESSION_SECRET, code) })
  return stored && { ...stored, sign_in_link: `${config.PUBLIC_ORIGIN}${signInLinkPath}#${code}` }
}

/**
 * Uses a link up and returns the id of its user. `typed` is the code or the whole link. Returns null for a link that is
 * unknown, was used before or has expired. Of two calls at once, one gets the user.
 */
export async function useSignInLink(
  { db, secret }: { db: Queryable; secret: string },
  typed: string,
): Promise<string | null> {
  const code = typed.slice(typed.lastIndexOf('#') + 1).trim()
  return codeForm.test(code) ? takeSignInLink(db, hashOf(secret, code)) : null
}

/** Deletes all links of a user. */
export async function deleteSignInLinksOf(db: Queryable, userId: string): Promise<void> {
  await db.query(sql.unsafe`DELETE FROM sign_in_links WHERE user_id = ${userId}`)
}

function hashOf(secret: string, code: string): Buffer {
  return keyedHash(secret, { purpose: 'sign-in link', text: code })
}

const StoredLink = Type.Object({ email: Type.String(), expires_at: Type.Number() })

function insertSignInLink(
  db: Queryable,
  link: { email: string; codeHash: Buffer },
): Promise<Static<typeof StoredLink> | null> {
  return db.maybeOne(sql.type(row(StoredLink))`
    WITH link AS (
      INSERT INTO sign_in_links (code_hash, user_id, expires_at)
      SELECT ${sql.binary(link.codeHash)}, id, now() + make_interval(mins => ${signInLinkMinutes})
      FROM users WHERE lower(email) = lower(${link.email})
      RETURNING user_id, expires_at)
    SELECT u.email, link.expires_at FROM link JOIN users u ON u.id = link.user_id`)
}

async function takeSignInLink(db: Queryable, codeHash: Buffer): Promise<string | null> {
  const link = await db.maybeOne(sql.type(row(Type.Object({ user_id: Type.String(), is_open: Type.Boolean() })))`
    DELETE FROM sign_in_links WHERE code_hash = ${sql.binary(codeHash)}
    RETURNING user_id, expires_at > now() AS is_open`)
  return link?.is_open ? link.user_id : null
}
