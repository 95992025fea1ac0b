import { type ErrorCode, Refusal } from '../../../shared/errors/errors.ts'
import { FormRefusal } from '../form-refusal.ts'
import { pageRefusalOf } from '../refusals.ts'

/** Why a form was refused: the status of the answer, and a sentence for the person who sent the form. */
export type Problem = { status: number; message: string }

/**
 * The problem that a page shows above its form, with what the person typed still in the form. What no change of the
 * form can help is thrown again, and becomes an error page: a missing right, a missing page, a fault of the service.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof FormRefusal) return { status: error.status, message: error.message }
  if (!(error instanceof Refusal) || !mendable.has(error.status)) throw error
  return { status: error.status, message: wordsOf[error.code] ?? pageRefusalOf(error).message }
}

const mendable = new Set([400, 409, 412, 413, 415, 422])

// Refusals whose sentence of the API names members of a request.
const wordsOf: Partial<Record<ErrorCode, string>> = {
  parent_missing: 'Its knowledge base was deleted, too. Restore that first.',
  folder_cycle: 'A folder cannot go into itself or into a folder below itself.',
  cross_workspace_move: 'It cannot go to another workspace.',
  quota_exceeded: 'The workspace is full. Delete something first, or ask whoever runs this service for more room.',
  document_too_large: 'The document would become too large. Divide it into several documents.',
}
