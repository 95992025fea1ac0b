import Type from 'typebox'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'

const UserRow = row(Type.Object({ user_id: Type.String() }))

/** The user who has that identity, if any. */
export function userOfIdentity(db: Queryable, identity: { issuer: string; subject: string }) {
  return db.maybeOne(sql.type(UserRow)`
    SELECT user_id FROM user_identities WHERE issuer = ${identity.issuer} AND subject = ${identity.subject}`)
}

/** Gives the identity to the user of that email, unless the user has another one of the same issuer already. */
export async function linkIdentity(
  db: Queryable,
  identity: { issuer: string; subject: string; email: string },
): Promise<void> {
  await db.query(sql.unsafe`
    INSERT INTO user_identities (issuer, subject, user_id)
    SELECT ${identity.issuer}, ${identity.subject}, id FROM users WHERE lower(email) = lower(${identity.email})
    ON CONFLICT DO NOTHING`)
}
