import Type from 'typebox'
import { bodyLimits } from '../../shared/body/body-limits.ts'
import { documentToLines } from '../../shared/body/canonical.ts'
import { commitBody } from '../../shared/body/commit.ts'
import { contentMembers, prepareContent, resolveContent } from '../../shared/body/content.ts'
import { Content, ContentInput } from '../../shared/body/schema.ts'
import { answerWarnings } from '../../shared/body/warnings.ts'
import { vendorType } from '../accept.ts'
import { contentErrors } from '../body-errors.ts'
import { bodyGuard } from '../body-guard.ts'
import { followers } from '../followers.ts'
import { localeParameter, requireVariantBody } from '../locale-read.ts'
import { DocumentParameter } from '../parameters.ts'
import { route } from '../route.ts'
import { bodyHeading } from '../stored-body.ts'

const tag = 'Content'
const annotate = Type.Optional(
  Type.Enum(['anchors'], { description: 'put the block id above each block; Markdown only' }),
)

/** Whole bodies (specification 4.9). */
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
      format: Type.Optional(Type.Enum(['tiptap-json', 'markdown', 'html'], { default: 'tiptap-json' })),
      annotate,
      locale: localeParameter,
    }),
    conditional: true,
    answerTypes: [vendorType],
    success: { status: 200, description: 'The body', data: Content, etag: true },
    errors: ['document_not_found', 'invalid_locale'],
    async handle({ db, caller, params, query }) {
      const { stored, body, resolution } = await requireVariantBody({ db, caller, params, query })
      const format = query.format ?? 'tiptap-json'
      const members = contentMembers(body.document, { format, anchors: query.annotate === 'anchors' })
      return {
        data: {
          ...bodyHeading(stored),
          format,
          ...members,
          warnings: answerWarnings(members.warnings),
          ...resolution,
        },
        etag: stored.version,
      }
    },
  }),

  route({
    method: 'PUT',
    path: '/documents/{id}/content',
    operationId: 'replaceContent',
    tag,
    summary: 'Replace the body of a document',
    description:
      'Blocks keep the ids they are given, in Markdown by anchors; blocks without one get a new id. The state before is kept as a version.',
    scopes: ['documents:write'],
    params: DocumentParameter,
    query: Type.Object({ annotate }),
    body: ContentInput,
    mediaTypes: [vendorType],
    guard: 'required',
    success: { status: 200, description: 'The new body', data: Content, etag: true },
    errors: ['document_not_found', 'version_conflict', ...contentErrors],
    prepare: ({ body, service }) => prepareContent(body, bodyLimits(service.config)),
    async handle({ tx, service, caller, params, query, body, guard, prepared }) {
      const committed = await commitBody(
        { tx, jobs: service.jobs, config: service.config, followers },
        {
          documentId: params.id,
          caller,
          guard: bodyGuard({ db: tx, guard, required: true }),
          edit: (stored) => {
            const content = resolveContent(prepared(), { stored, ...bodyLimits(service.config) })
            return { lines: documentToLines(content.result), attachments: content.attachments, content }
          },
        },
      )
      const { document, edited } = committed
      const anchors = query.annotate === 'anchors'
      const markdown =
        body.format === 'markdown' && contentMembers(committed.body.document, { format: 'markdown', anchors })
      const warnings = [...edited.content.warnings, ...(markdown ? markdown.warnings : [])]
      return {
        data: {
          ...bodyHeading(document),
          format: body.format,
          document: committed.body.document,
          ...(markdown && { content: markdown.content }),
          warnings: answerWarnings(warnings),
        },
        etag: document.version,
      }
    },
  }),
]
