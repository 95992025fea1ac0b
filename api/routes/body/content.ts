import Type from 'typebox'
import { bodyLimits } from '../../../shared/body/body-limits.ts'
import { commitBody } from '../../../shared/body/commit.ts'
import { type ContentSource, type IdPolicy, writeContent } from '../../../shared/body/content.ts'
import { answerWarnings } from '../../../shared/body/document.ts'
import { BodyWritten, Content, ContentInput } from '../../../shared/body/schema.ts'
import type { StoredBody } from '../../../shared/body/stored-body.ts'
import type { DocumentLabels } from '../../../shared/documents/front-matter.ts'
import { requireDocument } from '../../../shared/documents/require.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import { isRehearsal } from '../../http/rehearsal.ts'
import { vendorType } from '../../http/request-headers.ts'
import { route } from '../../http/route.ts'
import type { Service } from '../../http/service.ts'
import { contentErrors } from './body-errors.ts'
import { bodyGuard } from './body-guard.ts'
import { contentAnswerText, contentText } from './body-views.ts'
import { bodyRehearsal } from './differences.ts'
import { bodyHeading, bodyWritten, contentQuery, localeParameter, requireVariantBody } from './stored-body.ts'

const tag = 'Content'
/** The routes that read and replace whole bodies. */
export const contentRoutes = [
  route({
    method: 'GET',
    path: '/documents/{id}/content',
    operationId: 'getContent',
    tag,
    summary: 'Read the body of a document',
    scopes: ['documents:read'],
    params: DocumentParameter,
    query: Type.Object({
      ...contentQuery,
      front_matter: Type.Optional(
        Type.Boolean({
          default: false,
          description: 'write tags and properties into the front matter; Markdown only, and without an ETag',
        }),
      ),
      locale: localeParameter,
    }),
    conditional: true,
    answerTypes: [vendorType],
    success: { status: 200, description: 'The body', data: Content, etag: true },
    errors: ['document_not_found', 'invalid_locale', 'invalid_node'],
    async handle({ db, caller, params, query }) {
      const { stored, resolution } = await requireVariantBody({ db, caller, params, query })
      const { format = 'tiptap-json', annotate, front_matter = false } = query
      const isLabelled = front_matter && format === 'markdown'
      const labels = isLabelled ? labelsOf(await requireDocument(db, { caller, documentId: stored.id })) : null
      const framed = { text: stored.body, heading: bodyHeading(stored), resolution }
      const dataText = await contentText({ ...framed, format, anchors: annotate === 'anchors', labels })
      // The version of the body says nothing about tags and properties.
      return { dataText, etag: isLabelled ? null : stored.version }
    },
  }),

  route({
    method: 'PUT',
    path: '/documents/{id}/content',
    operationId: 'replaceContent',
    tag,
    summary: 'Replace the body of a document',
    description:
      'Blocks keep the ids they are given, in Markdown by anchors. With `ids=match`, other blocks keep the ids of the stored blocks that they continue. The state before is kept as a version.',
    scopes: ['documents:write'],
    params: DocumentParameter,
    query: Type.Object({
      annotate: contentQuery.annotate,
      ids: Type.Optional(
        Type.Enum(['strict', 'match'], {
          default: 'strict',
          description: 'what blocks without an id or anchor get: new ids, or those of the stored blocks they continue',
        }),
      ),
    }),
    body: ContentInput,
    mediaTypes: [vendorType],
    guard: 'required',
    rehearsal: bodyRehearsal,
    success: { status: 200, description: 'The new body', data: Content, minimal: BodyWritten, etag: true },
    errors: ['document_not_found', 'version_conflict', ...contentErrors],
    async handle(call) {
      const { caller, params, body } = call
      const committed = await commitBody(call.write, {
        documentId: params.id,
        caller,
        guard: bodyGuard(call),
        edit: (stored) => writeContent(call.ahead, sourceOf(call, stored)),
        // The difference of a rehearsal begins at the snapshot.
        skipsUnchanged: call.query.ids === 'match' && !isRehearsal(call.query),
      })
      const { document, edited } = committed
      const { markdown, warnings } = edited
      const shown = answerWarnings([...warnings, ...(markdown?.warnings ?? [])])
      const dataText = contentAnswerText({
        text: committed.body.text,
        heading: { ...bodyHeading(document), format: body.format },
        behind: {
          ...(markdown !== null && { content: markdown.content }),
          warnings: shown,
        },
      })
      return { dataText, minimal: bodyWritten(committed, shown), etag: document.version }
    },
  }),
]

function labelsOf({ tags, properties }: DocumentLabels): DocumentLabels {
  return { tags, properties }
}

type Replacing = {
  service: Service
  query: { annotate?: 'anchors' | undefined; ids?: IdPolicy | undefined }
  body: ContentInput
}

function sourceOf({ service, query, body }: Replacing, stored: StoredBody): ContentSource {
  const { annotate, ids = 'strict' } = query
  return { input: body, stored, anchors: annotate === 'anchors', ids, ...bodyLimits(service.config) }
}
