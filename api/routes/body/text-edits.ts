import { bodyLimits } from '../../../shared/body/body-limits.ts'
import { commitBody } from '../../../shared/body/commit.ts'
import { BodyWritten } from '../../../shared/body/schema.ts'
import type { StoredBody } from '../../../shared/body/stored-body.ts'
import { editTexts, type TextEdited } from '../../../shared/body/text-edits/edit-texts.ts'
import { TextEditInput, TextEditResult } from '../../../shared/body/text-edits/schema.ts'
import type { DocumentRow } from '../../../shared/documents/queries.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { DocumentParameter } from '../../http/parameters.ts'
import { mergeGuards } from '../../http/preconditions.ts'
import { route } from '../../http/route.ts'
import { contentErrors } from './body-errors.ts'
import { bodyGuard } from './body-guard.ts'
import { bodyRehearsal } from './differences.ts'
import { bodyWritten } from './stored-body.ts'

/** The route that edits a body by its text. See `api/guide/blocks.md#edits-by-text`. */
export const textEditRoutes = [
  route({
    method: 'POST',
    path: '/documents/{id}/content/edit',
    operationId: 'editContent',
    tag: 'Content',
    extension: true,
    summary: 'Edit the body of a document by its text',
    description:
      'Up to 100 edits in order, each on the result of the ones before it, all or nothing. `replace` changes a text where it stands; ids and marks around it stay. `append` and `prepend` add Markdown.',
    scopes: ['documents:write'],
    params: DocumentParameter,
    body: TextEditInput,
    guard: 'optional',
    rehearsal: bodyRehearsal,
    success: { status: 200, description: 'What the edits did', data: TextEditResult, minimal: BodyWritten, etag: true },
    errors: [
      ...contentErrors,
      'document_not_found',
      'section_not_found',
      'precondition_mismatch',
      'version_conflict',
      'text_not_found',
      'text_ambiguous',
      'block_not_found',
      'invalid_position',
    ],
    async handle(call) {
      const { caller, params, body, ahead } = call
      const guard = bodyGuard({ ...call, guard: mergeGuards(call.guard, body.base_version) })
      const limits = bodyLimits(call.service.config)
      const edit = (current: StoredBody) => editTexts(ahead, { current, edits: body.edits, limits })
      const committed = await commitBody<TextEdited>(call.write, {
        documentId: params.id,
        caller,
        guard: (current, document) => textsBeforeGuard({ guard, edit }, { current, document }),
        edit,
      })
      const { document, edited } = committed
      const { applied, warnings } = edited
      return {
        data: { document_id: document.id, version: document.version, applied, warnings },
        minimal: bodyWritten(committed, warnings),
        etag: document.version,
        workspaceId: document.workspace_id,
      }
    },
  }),
]

type Checks = {
  guard: (current: StoredBody, document: DocumentRow) => Promise<void>
  edit: (current: StoredBody) => Promise<TextEdited>
}

// A text that is missing or ambiguous says more than that the body has changed. So its 409 is answered where both
// apply. A fault of the content comes after the conflict, as everywhere.
async function textsBeforeGuard(
  { guard, edit }: Checks,
  { current, document }: { current: StoredBody; document: DocumentRow },
): Promise<void> {
  try {
    await guard(current, document)
  } catch (conflict) {
    if (!(conflict instanceof Refusal) || conflict.code !== 'version_conflict') throw conflict
    await edit(current).catch((error) => {
      const isLater = error instanceof Refusal && (error.status === 404 || error.status === 422)
      if (!isLater) throw error
    })
    throw conflict
  }
}
