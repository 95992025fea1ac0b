import Type from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'

const UserRow = row(Type.Object({ user_id: Type.String() }))

/**
 * The id of the user whom an OpenID provider vouches for, or null. The first sign-in finds the user by email, if the
 * provider has verified the email. Later sign-ins find the user by the subject alone, since a provider never gives a
 * subject to somebody else. No user is created.
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

function userOfIdentity(db: Queryable, identity: { issuer: string; subject: string }) {
  return db.maybeOne(sql.type(UserRow)`
    SELECT user_id FROM user_identities WHERE issuer = ${identity.issuer} AND subject = ${identity.subject}`)
}

// Links an identity to a user. Does nothing when the user has another identity of the same issuer already.
async function linkIdentity(
  db: Queryable,
  identity: { issuer: string; subject: string; email: string },
): Promise<void> {
  await db.query(sql.unsafe`
    INSERT INTO user_identities (issuer, subject, user_id)
    SELECT ${identity.issuer}, ${identity.subject}, id FROM users WHERE lower(email) = lower(${identity.email})
    ON CONFLICT DO NOTHING`)
}
