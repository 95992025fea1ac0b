import { membersNamed } from '../../../shared/auth/queries.ts'
import { accountPage } from '../account-page.ts'
import { documentCallOf } from '../document-call.ts'

// The most members of one answer, and the most characters of a name that is looked for.
const most = 10
const longest = 100

/**
 * The people whom somebody can mention in a document: the members of its workspace whose names contain `name` of the
 * query. Only their ids and names are told, which all members see beside the texts of each other.
 */
export const membersPage = accountPage({
  path: '/d/{documentId}/members',
  async get(call) {
    const { service, response, query, document } = await documentCallOf(call)
    const text = (query.get('name') ?? '').slice(0, longest)
    const members = await membersNamed(service.database, { workspaceId: document.workspace_id, text, limit: most })
    response.json({ members })
    return undefined
  },
})
