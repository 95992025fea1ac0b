import { Refusal } from '../errors/errors.ts'

/** The time for which something is valid, [valid_from, valid_to) in Unix milliseconds; an absent end is without bound. */
export type ValidityInput = { valid_from?: number | undefined; valid_to?: number | undefined }

/** The validity as it is stored; 400 `invalid_request` when it holds no instant. `path` is where it stands in the body. */
export function readValidity(input: ValidityInput, path = ''): { valid_from: number | null; valid_to: number | null } {
  const { valid_from = null, valid_to = null } = input
  if (valid_from === null || valid_to === null || valid_from < valid_to) return { valid_from, valid_to }
  const fields = [{ path: `${path}/valid_to`, message: 'must be later than valid_from' }]
  throw new Refusal('invalid_request', { details: { fields } })
}
