import { Refusal } from '../errors/errors.ts'

/**
 * Refuses to delete a knowledge base unless body or query repeat its id (decisions 2.2): 400 `invalid_request` when
 * neither does, 400 `confirm_id_mismatch` when one of them is another id.
 */
export function requireConfirmation(id: number, given: readonly (string | number | undefined)[]): void {
  const confirmations = given.filter((value) => value !== undefined)
  if (confirmations.length === 0) {
    throw new Refusal('invalid_request', { details: { fields: [{ path: '/confirm_id', message: 'is required' }] } })
  }
  if (confirmations.some((value) => String(value) !== String(id))) throw new Refusal('confirm_id_mismatch')
}
