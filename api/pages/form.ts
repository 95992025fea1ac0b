import express, { type Request, type Response } from 'express'
import { Refusal } from '../../shared/errors/errors.ts'
import { isStorable } from '../../shared/schema/strings.ts'
import type { Form } from './page.ts'

const maxBytes = 16_384
const type = 'application/x-www-form-urlencoded'
const parse = express.text({ limit: maxBytes, type: () => true, defaultCharset: 'utf-8' })

/** Reads a submitted form; only the type that a browser sends for one without files is understood. */
export async function readForm(request: Request, response: Response): Promise<Form> {
  if (request.headers['content-type'] !== undefined && !request.is(type)) {
    throw new Refusal('unsupported_media_type', { details: { accepted: [type] } })
  }
  await new Promise<void>((resolve, reject) => {
    parse(request, response, (error?: unknown) => (error ? reject(refusalOf(error)) : resolve()))
  })
  const fields = new URLSearchParams(typeof request.body === 'string' ? request.body : '')
  return {
    field: (name) => {
      const [value = '', ...more] = fields.getAll(name)
      return more.length === 0 && isStorable(value) ? value : ''
    },
  }
}

function refusalOf(error: unknown): unknown {
  const { type: kind, status } = error as { type?: unknown; status?: unknown }
  if (kind === 'entity.too.large') return new Refusal('payload_too_large', { details: { max_bytes: maxBytes } })
  const isOfSender = typeof status === 'number' && status < 500
  return isOfSender ? new Refusal('invalid_request', { details: { fields: [] }, cause: error }) : error
}
