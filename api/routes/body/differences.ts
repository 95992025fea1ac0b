import Type from 'typebox'
import { bodyPair, differenceText, differenceVersion } from '../../../shared/differences/compare.ts'
import type { NamedBody } from '../../../shared/differences/queries.ts'
import { DocumentDifference } from '../../../shared/differences/schema.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import { type Rehearsal, route } from '../../http/route.ts'

/**
 * The rehearsal of a write to the body of the document that the path names as `id`. The difference is that from the
 * newest version, which the write keeps of the body before it, to the body that the write makes.
 */
export const bodyRehearsal: Rehearsal = {
  scopes: ['documents:read'],
  diff: DocumentDifference,
  async compare(tx, { caller, params }) {
    const { id: documentId } = params as { id: string }
    const pair = await bodyPair(tx, { documentId, caller, from: 'newest', to: 'current' })
    return () => differenceText(pair, { format: 'json' })
  },
}

const bodyName = (absent: string) =>
  Type.Optional(
    Type.String({
      pattern: '^(current|[1-9][0-9]*)$',
      description: `\`current\`, or \`seq\` of a kept version; absent: ${absent}`,
    }),
  )

/** The route of the difference of two bodies. See `api/guide/blocks.md#differences`. */
export const differenceRoutes = [
  route({
    method: 'GET',
    path: '/documents/{id}/diff',
    operationId: 'getDiff',
    tag: 'Versions',
    extension: true,
    summary: 'Compare two bodies of a document',
    description:
      'By default the newest kept version with the current body: what the last write has changed. `json` lists the top-level blocks that differ, with their changed words; `markdown` is unified text.',
    scopes: ['documents:read'],
    params: DocumentParameter,
    query: Type.Object({
      from: bodyName('the newest version'),
      to: bodyName('`current`'),
      format: Type.Optional(Type.Enum(['json', 'markdown'], { default: 'json' })),
      ids: Type.Optional(
        Type.Enum(['strict', 'match'], {
          default: 'strict',
          description: '`match` pairs blocks whose ids were replaced with the blocks that continue them; `json` only',
        }),
      ),
    }),
    conditional: true,
    success: { status: 200, description: 'The difference', data: DocumentDifference, etag: true },
    errors: ['document_not_found', 'version_not_found', 'invalid_node'],
    async handle({ db, caller, params, query }) {
      const { format = 'json', ids = 'strict' } = query
      const [from, to] = [namedBody(query.from) ?? 'newest', namedBody(query.to) ?? 'current']
      const pair = await bodyPair(db, { documentId: params.id, caller, from, to })
      return {
        computeData: () => differenceText(pair, { format, ids }),
        etag: differenceVersion(pair, { format, ids }),
      }
    },
  }),
]

function namedBody(name: string | undefined): NamedBody | undefined {
  return name === undefined || name === 'current' ? name : { seq: name }
}
