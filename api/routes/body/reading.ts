import Type from 'typebox'
import { DocumentOutline, DocumentRead, readViews } from '../../../shared/body/schema.ts'
import { blockIdPattern } from '../../../shared/schema/ids.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import { route } from '../../http/route.ts'
import { outlinePartText, outlineText, readText } from './body-views.ts'
import { bodyHeading, localeParameter, requireVariantBody } from './stored-body.ts'

const tag = 'Content'

/** The query of `GET /documents/{id}/read`. */
export const readParameters = Type.Object({
  view: Type.Optional(Type.Enum([...readViews], { default: 'markdown' })),
  around: Type.Optional(Type.String({ pattern: blockIdPattern, description: 'any block id, nested or not' })),
  max_tokens: Type.Optional(Type.Integer({ minimum: 64, maximum: 50_000, default: 4000 })),
  context_before: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, default: 2 })),
  context_after: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, default: 4 })),
  annotate: Type.Optional(
    Type.Enum(['anchors', 'hashes'], {
      description:
        'put a comment with the block id above each top-level block, or with the block id and the hash of the block; Markdown only',
    }),
  ),
  cursor: Type.Optional(Type.String({ description: 'next_cursor of the part before' })),
  locale: localeParameter,
})

/** The routes of outlines and of partial reads. See `api/guide/blocks.md#partial-read`. */
export const readingRoutes = [
  route({
    method: 'GET',
    path: '/documents/{id}/outline',
    operationId: 'getOutline',
    tag,
    summary: 'Read the outline of a document',
    scopes: ['documents:read'],
    params: DocumentParameter,
    query: Type.Object({ locale: localeParameter }),
    success: { status: 200, description: 'Sections in document order', data: DocumentOutline, etag: true },
    errors: ['document_not_found', 'invalid_locale', 'invalid_node'],
    async handle(call) {
      const { stored, resolution } = await requireVariantBody(call)
      const heading = { document_id: stored.id, version: stored.version }
      return { dataText: await outlineText({ text: stored.body, heading, resolution }), etag: stored.version }
    },
  }),

  route({
    method: 'GET',
    path: '/documents/{id}/read',
    operationId: 'readDocument',
    tag,
    summary: 'Read a part of a document within a budget of tokens',
    description:
      'The whole document, or the surroundings of one block, as far as the budget goes. An extension: `annotate`. `next_cursor` is bound to the version of the body and to the parameters.',
    scopes: ['documents:read'],
    params: DocumentParameter,
    query: readParameters,
    success: { status: 200, description: 'A part of the body', data: DocumentRead, etag: true },
    errors: [
      'document_not_found',
      'block_not_found',
      'invalid_cursor',
      'invalid_locale',
      'read_cursor_stale',
      'invalid_node',
    ],
    async handle(call) {
      const { stored, resolution } = await requireVariantBody(call)
      const { updated_at: _not, ...heading } = bodyHeading(stored)
      const { endpoint, params, query } = call
      const { view = 'markdown' } = query
      const framed = { text: stored.body, heading, resolution }
      if (view === 'outline') {
        return { dataText: await outlinePartText({ ...framed, query }), etag: stored.version }
      }
      const request = { endpoint, params, query, view, version: stored.version }
      return { dataText: await readText({ ...framed, request }), etag: stored.version }
    },
  }),
]
