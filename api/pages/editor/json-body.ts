import express from 'express'
import { Refusal } from '../../../shared/errors/errors.ts'
import type { PageCall } from '../page.ts'
import { unreadable } from '../unreadable-body.ts'

// The most bytes that a script sends at once.
const mostBytes = 1024 * 1024

const parseJson = express.json({ limit: mostBytes, type: () => true })

/** Reads what the script of a page has sent. Refuses with 413 what is too large, and with 400 what has another form. */
export async function readJson<Body>(
  { request, response }: PageCall,
  form: { Check: (value: unknown) => value is Body },
): Promise<Body> {
  await new Promise<void>((resolve, reject) => {
    parseJson(request, response, (error?: unknown) => (error ? reject(unreadable(error, mostBytes)) : resolve()))
  })
  const body: unknown = request.body
  if (!form.Check(body)) throw new Refusal('invalid_request', { details: { fields: [] } })
  return body
}
