import { Refusal } from '../../../shared/errors/errors.ts'
import { pageRefusalOf } from '../refusals.ts'

/** Why a form was refused: the status of the answer, and a sentence for the person who sent the form. */
export type Problem = { status: number; message: string }

/**
 * The problem that a page shows above its form, with what the person typed still in the form. What no change of the
 * form can help is thrown again, and becomes an error page: a missing right, a missing page, a fault of the service.
 */
export function problemOf(error: unknown): Problem {
  if (!(error instanceof Refusal) || !mendable.has(error.status)) throw error
  return { status: error.status, message: pageRefusalOf(error).message }
}

const mendable = new Set([400, 409, 412, 413, 415, 422])
