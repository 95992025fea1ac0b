import { membershipsOf, membersNamed } from '../../../shared/auth/queries.ts'
import { visibleDocument } from '../../../shared/documents/queries.ts'
import { accountPage } from '../account-page.ts'
import { pageMissing } from '../refusals.ts'

// The most members of one answer, and the most characters of a name that is looked for.
const most = 10
const longest = 100

/**
 * The people whom somebody can mention in a document: the members of its workspace whose names contain `name` of the
 * query. Only their ids and names are told, which all members see beside the texts of each other.
 */
export const membersPage = accountPage({
  path: '/d/{documentId}/members',
  async get({ service, response, params, query, user }) {
    await service.rateLimiter.consume('read', user.userId)
    const memberships = await membershipsOf(service.database, user.userId)
    const workspaceIds = memberships.map(({ workspace_id }) => workspace_id)
    const document = await visibleDocument(service.database, { documentId: params['documentId'] ?? '', workspaceIds })
    if (document === null) throw pageMissing()
    const text = (query.get('name') ?? '').replaceAll('\0', '').slice(0, longest)
    const members = await membersNamed(service.database, { workspaceId: document.workspace_id, text, limit: most })
    response.json({ members })
    return undefined
  },
})
