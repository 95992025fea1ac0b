import express from 'express'
import { Refusal, unsupportedMediaType } from '../../shared/errors/errors.ts'
import { isStorable } from '../../shared/schema/strings.ts'
import type { Form, PageCall } from './page.ts'

/** A form with files that was submitted. The files are in memory, as large as the limit of a body at most. */
export type FilesForm = Form & {
  /** The files of a field, in the order in which the person chose them. */
  files: (name: string) => File[]
}

const formType = 'multipart/form-data'

/**
 * Reads a form with files. Refuses with 415 another body, with 413 a body that is longer than `BODY_MAX_BYTES`, and with
 * 400 an unreadable body.
 */
export async function readFilesForm({ request, response, service }: PageCall): Promise<FilesForm> {
  const contentType = request.headers['content-type'] ?? ''
  if (!request.is(formType)) throw unsupportedMediaType({ sent: contentType || undefined, accepted: [formType] })
  const limit = service.config.BODY_MAX_BYTES
  await new Promise<void>((resolve, reject) => {
    const parse = express.raw({ limit, type: () => true })
    parse(request, response, (error?: unknown) => (error ? reject(refusalOf(error, limit)) : resolve()))
  })
  const body = new Response(request.body as Buffer<ArrayBuffer>, { headers: { 'content-type': contentType } })
  const data = await body.formData().catch((cause: unknown) => {
    throw new Refusal('invalid_request', { details: { fields: [] }, cause })
  })
  return {
    field: (name) => {
      const [value, ...more] = data.getAll(name)
      return typeof value === 'string' && more.length === 0 && isStorable(value) ? value : ''
    },
    // A browser sends a file without a name for a field in which the person has chosen none.
    files: (name) =>
      data
        .getAll(name)
        .filter((value) => value instanceof File)
        .filter((file) => file.name !== ''),
  }
}

function refusalOf(error: unknown, limit: number): unknown {
  const { type: kind, status } = error as { type?: unknown; status?: unknown }
  if (kind === 'entity.too.large') return new Refusal('payload_too_large', { details: { max_bytes: limit } })
  const isOfSender = typeof status === 'number' && status < 500
  return isOfSender ? new Refusal('invalid_request', { details: { fields: [] }, cause: error }) : error
}
