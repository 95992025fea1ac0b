import type { Queryable } from '../database/database.ts'
import { verifyPassword } from './passwords.ts'
import { credentialsByEmail } from './session-queries.ts'

/**
 * The id of the user whose email and password these are, or null. An unknown email, a user without a password and a
 * wrong password are answered alike and take alike.
 */
export async function checkPassword(
  db: Queryable,
  credentials: { email: string; password: string },
): Promise<string | null> {
  const user = await credentialsByEmail(db, credentials.email.trim())
  const isRight = await verifyPassword(credentials.password, user?.password_hash ?? null)
  return user !== null && isRight ? user.id : null
}
