import Type from 'typebox'
import { Text } from '../../../shared/schema/strings.ts'
import { readSummary } from '../../../shared/summaries/read.ts'
import { Summary } from '../../../shared/summaries/schema.ts'
import { type Route, route } from '../../http/route.ts'
import type { SummaryTargetKind } from '../summaries.ts'

/** `GET …/summary` (specification 4.6). */
export function getSummary(kind: SummaryTargetKind): Route {
  return route({
    method: 'GET',
    path: kind.path,
    operationId: `get${kind.noun}Summary`,
    tag: 'Summaries',
    summary: `Read the summary of ${kind.name}`,
    description:
      'The stored summary or, where there is none, one made now without a model. `freshness=stale` means that the source has changed since. With `query` the passages that answer it best, which is never stored; the ETag stays that of what is stored.',
    scopes: [kind.read],
    params: kind.params,
    query: Type.Object({
      ...kind.query,
      query: Type.Optional(Text({ min: 1, max: 200, description: 'words and "quoted phrases", as in a search' })),
    }),
    success: { status: 200, description: 'The summary', data: Summary, etag: true },
    errors: [...kind.errors, 'invalid_node'],
    async handle(call) {
      const { query } = call.query as { query?: string }
      const { summary, tag } = await readSummary(call.service.database, {
        caller: call.caller,
        request: kind.request(call),
        query,
      })
      return { data: summary, etag: tag }
    },
  })
}
