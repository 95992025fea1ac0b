import { PublicShare } from '../../../shared/sharing/schema.ts'
import { ensureShare, presentShare } from '../../../shared/sharing/share.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import { route } from '../../http/route.ts'

/** The route that gives a document a public link. */
export const sharingRoutes = [
  route({
    method: 'POST',
    path: '/documents/{id}/public-share',
    operationId: 'ensurePublicShare',
    tag: 'Documents',
    summary: 'Make sure that a document has a public link',
    description:
      'Whoever has the link reads the current body, without comments, as a page that search engines do not list. A document has one link, which stays the same until the document is deleted.',
    scopes: ['documents:write'],
    params: DocumentParameter,
    success: [
      { status: 201, description: 'The new link', data: PublicShare },
      { status: 200, description: 'The link that was there', data: PublicShare },
    ],
    errors: ['document_not_found', 'public_share_disabled'],
    async handle({ tx, service, caller, params }) {
      const { PUBLIC_SHARE_ENABLED: enabled, PUBLIC_ORIGIN: origin } = service.config
      const { share, created } = await ensureShare(tx, { documentId: params.id, caller, enabled })
      const status = created ? 201 : 200
      return { status, data: presentShare(share, origin), workspaceId: share.workspace_id }
    },
  }),
]
