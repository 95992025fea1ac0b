import { BatchInput, BatchResult } from '../../../shared/body/block-schema.ts'
import { commitBody } from '../../../shared/body/commit.ts'
import { answerWarnings } from '../../../shared/body/warnings.ts'
import { followers } from '../../followers.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import { mergeGuards } from '../../http/preconditions.ts'
import { route } from '../../http/route.ts'
import { batchWrite } from './block-write.ts'
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
    async handle({ tx, service, caller, params, body, guard: header }) {
      const guard = mergeGuards(header, body.base_version)
      const { document, edited } = await commitBody(
        { tx, jobs: service.jobs, config: service.config, followers },
        {
          documentId: params.id,
          caller,
          guard: bodyGuard({ db: tx, guard, required: false }),
          edit: (current) => batchWrite(current, body.operations),
        },
      )
      const { results } = edited
      const warnings = answerWarnings(edited.warnings)
      return {
        data: { document_id: document.id, version: document.version, applied: results.length, results, warnings },
        etag: document.version,
        workspaceId: document.workspace_id,
      }
    },
  }),
]
