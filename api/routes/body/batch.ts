import { BatchInput, BatchResult } from '../../../shared/body/block-schema.ts'
import { commitBody } from '../../../shared/body/commit.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import { mergeGuards } from '../../http/preconditions.ts'
import { route } from '../../http/route.ts'
import { writeContext } from '../../http/write-context.ts'
import { editBlocks } from './block-write.ts'
import { nodeErrors } from './body-errors.ts'
import { bodyGuard } from './body-guard.ts'

/** Several edits of blocks as one change (specification 4.11). */
export const batchRoutes = [
  route({
    method: 'POST',
    path: '/documents/{id}/batch',
    operationId: 'batchBlocks',
    tag: 'Blocks',
    summary: 'Apply up to 100 block operations, all or nothing',
    description:
      'Operations run in order, each on the result of the ones before it. `if_match` holds a block hash against the body before the batch.',
    scopes: ['documents:write'],
    params: DocumentParameter,
    body: BatchInput,
    guard: 'optional',
    success: { status: 200, description: 'What the operations did', data: BatchResult, etag: true },
    errors: [
      ...nodeErrors,
      'document_not_found',
      'precondition_mismatch',
      'version_conflict',
      'block_id_mismatch',
      'invalid_position',
      'block_not_found',
      'heading_not_found',
    ],
    async handle(call) {
      const { caller, params, body } = call
      const guard = mergeGuards(call.guard, body.base_version)
      const { document, edited } = await commitBody(writeContext(call), {
        documentId: params.id,
        caller,
        guard: bodyGuard({ ...call, guard }),
        edit: (current) =>
          editBlocks(call.ahead, { current, documentId: params.id, op: 'batch', input: body.operations }),
      })
      const { results, warnings } = edited
      return {
        data: { document_id: document.id, version: document.version, applied: results.length, results, warnings },
        etag: document.version,
        workspaceId: document.workspace_id,
      }
    },
  }),
]
