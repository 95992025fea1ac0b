import Type from 'typebox'
import { visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { IntegerIdFilter } from '../../../shared/schema/identifiers.ts'
import { documentIdPattern } from '../../../shared/schema/ids.ts'
import { sharePage } from '../../../shared/sharing/queries.ts'
import { PublicShare, PublicShareChanges, PublicShareInput, shareIdPattern } from '../../../shared/sharing/schema.ts'
import {
  changeShare,
  ensureShare,
  presentShare,
  requireFutureExpiry,
  revokeShare,
  shareSecurity,
} from '../../../shared/sharing/share.ts'
import { decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
import { DocumentParameter, pageParameters } from '../../http/parameters.ts'
import { route } from '../../http/route.ts'

const tag = 'Documents'

const ShareParameter = Type.Object({
  id: Type.String({ pattern: shareIdPattern, description: 'share id', 'x-error': 'share_not_found' }),
})

/** The routes of public links to documents. See `api/guide/documents.md#sharing`. */
export const sharingRoutes = [
  route({
    method: 'POST',
    path: '/documents/{id}/public-share',
    operationId: 'ensurePublicShare',
    tag,
    summary: 'Make sure that a document has a public link',
    description:
      'Whoever has the link reads the current body, without comments, as a page that search engines do not list. A document has one link, which stays the same until it is revoked or the document is deleted. Expiry and password count only for a new link.',
    scopes: ['documents:write'],
    params: DocumentParameter,
    body: PublicShareInput,
    success: [
      { status: 201, description: 'The new link', data: PublicShare },
      { status: 200, description: 'The link that was there, unchanged', data: PublicShare },
    ],
    errors: ['document_not_found', 'public_share_disabled'],
    prepare: ({ body }) => shareSecurity(body),
    async handle({ tx, service, caller, params, body, prepared: security }) {
      const { PUBLIC_SHARE_ENABLED: enabled, PUBLIC_ORIGIN: origin } = service.config
      requireFutureExpiry(body.expires_at)
      const { share, created } = await ensureShare(tx, { documentId: params.id, caller, enabled, security })
      const status = created ? 201 : 200
      return { status, data: presentShare(share, origin), workspaceId: share.workspace_id }
    },
  }),

  route({
    method: 'GET',
    path: '/public-shares',
    operationId: 'listPublicShares',
    tag,
    summary: 'List public links',
    description: 'Newest first, expired links included. Revoked links are gone.',
    extension: true,
    scopes: ['documents:read'],
    query: Type.Object({
      ...pageParameters,
      knowledge_base_id: Type.Optional(IntegerIdFilter()),
      document_id: Type.Optional(Type.String({ pattern: documentIdPattern })),
    }),
    success: { status: 200, description: 'A page of links', data: PublicShare, list: true },
    errors: ['invalid_cursor'],
    async handle({ db, service, caller, query, endpoint }) {
      const filters = { knowledgeBaseId: query.knowledge_base_id, documentId: query.document_id }
      const scope = { endpoint, filters, sort: 'created_at' }
      const after = query.cursor === undefined ? null : decodeCursor(scope, query.cursor, ['number', 'string'])
      const limit = query.limit ?? 50
      const rows = await sharePage(db, { ...filters, workspaceIds: visibleWorkspaces(caller), after, limit })
      const next = (last: (typeof rows)[number]) => encodeCursor(scope, [last.created_at, last.id])
      const { data, page } = pageOf({ rows, limit, cursor: query.cursor, next })
      return { data: data.map((share) => presentShare(share, service.config.PUBLIC_ORIGIN)), page }
    },
  }),

  route({
    method: 'PATCH',
    path: '/public-shares/{id}',
    operationId: 'updatePublicShare',
    tag,
    summary: 'Change expiry and password of a public link',
    description:
      'An absent member stays as it is, `null` takes it away. A new password asks readers again who gave the old one. An expired link opens again with a new expiry.',
    extension: true,
    scopes: ['documents:write'],
    params: ShareParameter,
    body: PublicShareChanges,
    success: { status: 200, description: 'The changed link', data: PublicShare },
    errors: ['share_not_found'],
    prepare: ({ body }) => shareSecurity(body),
    async handle({ tx, service, caller, params, body, prepared: security }) {
      requireFutureExpiry(body.expires_at)
      const share = await changeShare(tx, { id: params.id, caller, security })
      const data = presentShare(share, service.config.PUBLIC_ORIGIN)
      return { data, documentIds: [share.document_id] }
    },
  }),

  route({
    method: 'DELETE',
    path: '/public-shares/{id}',
    operationId: 'deletePublicShare',
    tag,
    summary: 'Revoke a public link',
    description: 'At once and for good: the address answers 404. A new link of the document gets a new address.',
    extension: true,
    scopes: ['documents:write'],
    params: ShareParameter,
    success: { status: 204, description: 'Revoked', data: null },
    errors: ['share_not_found'],
    async handle({ tx, caller, params }) {
      const { document_id: documentId } = await revokeShare(tx, { id: params.id, caller })
      return { documentIds: [documentId] }
    },
  }),
]
