import Type from 'typebox'
import { saveManual } from '../../../shared/summaries/save.ts'
import { Summary, SummaryInput } from '../../../shared/summaries/schema.ts'
import { type Route, route } from '../../http/route.ts'
import { versionGuard } from '../../http/version-guard.ts'
import type { SummaryTargetKind } from '../summaries.ts'

/** `PUT …/summary` (specification 4.6). */
export function putSummary(kind: SummaryTargetKind): Route {
  return route({
    method: 'PUT',
    path: kind.path,
    operationId: `put${kind.noun}Summary`,
    tag: 'Summaries',
    summary: `Write the summary of ${kind.name}`,
    description:
      'Guarded twice: If-Match names the summary that is replaced (`"summary:0"` where nothing is stored), `base_source_version` the `current_source_version` it was written from. `pinned` keeps machines from writing over it; open jobs of the target end as obsolete.',
    scopes: [kind.write],
    params: kind.params,
    query: Type.Object(kind.query),
    body: SummaryInput,
    guard: 'required',
    versionForm: 'summary',
    success: { status: 200, description: 'The stored summary', data: Summary, etag: true },
    errors: [...kind.errors, 'source_version_changed'],
    async handle(call) {
      const { summary, tag } = await saveManual(call.tx, {
        caller: call.caller,
        request: kind.request(call),
        written: call.body,
        guard: versionGuard(call.guard),
      })
      return { data: summary, etag: tag }
    },
  })
}
