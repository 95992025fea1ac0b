import { grantsOf, revokeGrantOf } from '../../shared/auth/oauth/grants.ts'
import { isReading, scopes } from '../../shared/auth/scopes.ts'
import { inTransaction } from '../../shared/database/database.ts'
import { type AccountCall, accountPage } from './account-page.ts'
import { pageMissing } from './refusals.ts'
import { type Moment, momentOf } from './render.ts'

// The most programs that the list shows.
const shownAtOnce = 200

/** Disconnects a program of the person who is signed in. The grant of another person is answered with 404. */
export const revokeGrantPage = accountPage({
  path: '/account/grants/{grantId}/revoke',
  async post(call) {
    const id = call.params['grantId'] ?? ''
    const { userId } = call.user
    if (!(await inTransaction(call.service.database, (tx) => revokeGrantOf(tx, { userId, id })))) throw pageMissing()
    const request_id = call.response.locals['requestId'] as string
    call.service.log.info({ request_id, user_id: userId, grant_id: id }, 'grant revoked')
    return { location: '/account/tokens' }
  },
})

/** A program that a person has let in by OAuth, as a row of the list. */
export type ListedGrant = {
  id: string
  name: string
  redirectHost: string
  access: string
  scopes: string
  given: Moment
  lastUsed: Moment
}

/** The programs that the person has let in, newest first. */
export async function listedGrants({ service, user }: AccountCall): Promise<ListedGrant[]> {
  const grants = await grantsOf(service.database, { userId: user.userId, limit: shownAtOnce })
  return grants.map((grant) => ({
    id: grant.id,
    name: grant.client_name,
    redirectHost: grant.redirect_host,
    access: grant.scopes.every(isReading) ? 'Read only' : 'Read and write',
    scopes: grant.scopes.length === scopes.length ? 'all scopes' : grant.scopes.join(', '),
    given: momentOf(grant.created_at),
    lastUsed: momentOf(grant.last_used_at),
  }))
}
