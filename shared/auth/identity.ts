import type { Queryable } from '../database/database.ts'
import { linkIdentity, userOfIdentity } from './identity-queries.ts'

/**
 * The id of the user whom a provider vouches for, or null. The first time a user is found by email, if the provider has
 * verified it; from then on by the subject alone, which is never given to somebody else. Nobody is created.
 */
export async function matchIdentity(
  db: Queryable,
  identity: { issuer: string; subject: string; email: string | null; emailVerified: boolean },
): Promise<string | null> {
  const known = await userOfIdentity(db, identity)
  if (known !== null) return known.user_id
  if (identity.email === null || !identity.emailVerified) return null
  await linkIdentity(db, { ...identity, email: identity.email })
  return (await userOfIdentity(db, identity))?.user_id ?? null
}
