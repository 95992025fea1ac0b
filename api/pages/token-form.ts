import type { TokenRequest } from '../../shared/auth/tokens.ts'
import type { Form } from './page.ts'

/** The form for a new token as it was filled in: what it asks for, or what is wrong with which field. */
export type TokenForm = {
  request: TokenRequest | null
  name: string
  access: string
  days: string
  /** `field` is null when none of them is wrong. */
  problem: { field: 'name' | 'access' | 'days' | null; message: string } | null
}

const longestName = 80

/** Reads the fields `name`, `access` (`read_write` or `read_only`) and `expires_in_days` (empty = never). */
export function readTokenForm(form: Form): TokenForm {
  const filled = { name: form.field('name').trim(), access: form.field('access'), days: form.field('expires_in_days') }
  const refuse = (field: 'name' | 'access' | 'days', message: string) => ({
    ...filled,
    request: null,
    problem: { field, message },
  })
  const { name, access, days } = filled
  if (name === '' || [...name].length > longestName)
    return refuse('name', `Give it a name of 1 to ${longestName} characters.`)
  if (access !== 'read_write' && access !== 'read_only') return refuse('access', 'Choose what the token may do.')
  if (days !== '' && !/^[1-9][0-9]{0,3}$/.test(days)) return refuse('days', 'Choose when the token expires.')
  return { ...filled, problem: null, request: { name, access, expiresInDays: days === '' ? null : Number(days) } }
}
