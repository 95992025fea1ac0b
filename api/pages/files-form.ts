import { Busboy, type BusboyInstance } from '@fastify/busboy'
import type { Request } from 'express'
import { Refusal, unsupportedMediaType } from '../../shared/errors/errors.ts'
import { isStorable } from '../../shared/schema/strings.ts'
import { streamOfBody } from '../http/request-body.ts'
import type { Form, PageCall } from './page.ts'

/** A file of a form: its name as the person has it, and its bytes. */
export type FormFile = { name: string; bytes: Buffer }

/** A form with files that was submitted. The files are in memory, as large as the limit of a body at most. */
export type FilesForm = Form & {
  /** The files of the form, in the order in which the person chose them; of too many files, the first. */
  files: readonly FormFile[]
}

const formType = 'multipart/form-data'
// The most files that are read, the most other fields, and the most bytes of a field.
const formLimits = { files: 100, fields: 8, parts: 108, fieldSize: 4096, headerPairs: 32 }

/**
 * Reads a form with files as it arrives. Refuses with 415 another body, with 413 a body that is longer than
 * `BODY_MAX_BYTES`, and with 400 an unreadable body.
 */
export async function readFilesForm({ request, service }: PageCall): Promise<FilesForm> {
  const sent = request.headers['content-type']
  if (sent === undefined || !request.is(formType)) throw unsupportedMediaType({ sent, accepted: [formType] })
  const limit = service.config.BODY_MAX_BYTES
  const tooLarge = () => new Refusal('payload_too_large', { details: { max_bytes: limit } })
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge()
  const fields = new Map<string, string>()
  const files: FormFile[] = []
  await parsed(request, (parser, refuse) => {
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > limit) refuse(tooLarge())
    })
    parser.on('field', (name, value) => {
      fields.set(name, !fields.has(name) && isStorable(value) ? value : '')
    })
    parser.on('file', (_field, stream, name) => {
      const chunks: Buffer[] = []
      stream.on('error', refuse)
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      // A browser sends a file without a name for a field in which the person has chosen none.
      stream.on('end', () => name && files.push({ name, bytes: Buffer.concat(chunks) }))
    })
  }).catch(refusalOf)
  return { fields, field: (name) => fields.get(name) ?? '', files }
}

// Sends the body through a parser. `listen` connects the parser. It refuses by its second argument.
function parsed(
  request: Request,
  listen: (parser: BusboyInstance, refuse: (error: unknown) => void) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const contentType = request.headers['content-type'] ?? ''
    const parser = new Busboy({ headers: { ...request.headers, 'content-type': contentType }, limits: formLimits })
    const body = streamOfBody(request)
    const refuse = (error: unknown) => {
      body.unpipe(parser)
      body.destroy()
      reject(error)
    }
    listen(parser, refuse)
    body.once('error', refuse)
    parser.once('error', refuse)
    parser.once('finish', resolve)
    body.pipe(parser)
  })
}

// Every error of the parser is a mistake of the sender.
function refusalOf(error: unknown): never {
  throw error instanceof Refusal ? error : new Refusal('invalid_request', { details: { fields: [] }, cause: error })
}
