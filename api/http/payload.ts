import type { Request, Response } from 'express'
import { type TObject, Type } from 'typebox'
import type { Upload } from '../../shared/attachments/upload.ts'
import { fingerprintOf } from './idempotency.ts'
import { bodyReader } from './input.ts'
import { jsonTextReader, readForm } from './request-body.ts'
import type { Route } from './route.ts'
import type { ReadBody, Service } from './service.ts'

// The largest JSON body of an endpoint that needs no token, in bytes.
const openBodyMaxBytes = 16_384

/** The body of a write, read and decoded, with the media type that it came in. */
type Payload = ReadBody & { mediaType: string | null }

/** Where the body of a call comes from: the bytes of a request, or JSON text that another part of the process made. */
export type BodySource = { request: Request; response: Response } | { text: string }

/** The query of a call with an Idempotency-Key is `keyed`; without a key it is null. */
type Incoming = { source: BodySource; upload: Upload | null; keyed: URLSearchParams | null }

/** Makes the reader of a write's body: a form where the route declares one, otherwise JSON. */
export function payloadReader(service: Service, spec: Route): (incoming: Incoming) => Promise<Payload> {
  return spec.multipart === undefined ? jsonReader(service, spec) : formReader(service, spec, spec.multipart)
}

function jsonReader({ config, readJson }: Service, spec: Route) {
  const { operationId } = spec
  const maxBytes = spec.access === 'anyone' ? Math.min(config.BODY_MAX_BYTES, openBodyMaxBytes) : config.BODY_MAX_BYTES
  const readText = jsonTextReader(maxBytes)
  const accepted = ['application/json', ...(spec.mediaTypes ?? [])]
  const received = ({ request, response }: { request: Request; response: Response }) =>
    readText(request, response, accepted)
  return async ({ source, keyed }: Incoming): Promise<Payload> => {
    const { text, mediaType } = 'text' in source ? { ...source, mediaType: 'application/json' } : await received(source)
    return { mediaType, ...(await readJson({ operationId, text, query: keyed && [...keyed.entries()] })) }
  }
}

function formReader({ config }: Service, spec: Route, { file }: { file: string }) {
  const { ATTACHMENT_MAX_BYTES: maxFileBytes } = config
  const fields = Object.keys((spec.body as TObject | undefined)?.properties ?? {})
  const read = bodyReader(spec.body ?? Type.Object({}))
  return async ({ source, upload, keyed }: Incoming): Promise<Payload> => {
    if (upload === null || 'text' in source) throw new TypeError('a form is read from a request into an upload')
    const form = await readForm(source.request, { file, fields, maxFileBytes }, upload)
    const fingerprint = keyed && fingerprintOf(fingerprinted(form, upload), keyed)
    return { body: read(form) as object, mediaType: 'multipart/form-data', fingerprint }
  }
}

// Returns what the digest of a form is made of: its fields, and the name, type and digest of its file. The bytes of a
// form would not do, because each repetition has another boundary between its parts.
function fingerprinted(body: object, upload: Upload | null): object {
  if (upload?.received == null) return body
  const { filename, contentType, sha256 } = upload.received
  return { ...body, file: { filename, contentType, sha256 } }
}

/**
 * Removes a received file that no attachment has claimed, because the request failed or repeats an earlier request.
 * When the removal fails, the failure is only logged: the sweep of orphaned uploads removes the file later.
 */
export async function releaseUpload(service: Service, upload: Upload | null): Promise<void> {
  await upload?.release().catch((err) => service.log.warn({ err }, 'a received file is left to the sweep'))
}
