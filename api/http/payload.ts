import type { Request, Response } from 'express'
import type { TObject } from 'typebox'
import type { Upload } from '../../shared/attachments/upload.ts'
import { readForm } from './multipart.ts'
import { jsonBodyReader } from './request-body.ts'
import type { Route } from './route.ts'
import type { Service } from './service.ts'

type Payload = { body: object; mediaType: string | null }
type Incoming = { request: Request; response: Response; upload: Upload | null }

/** Makes the step that reads the body of a write: a form where the route declares one, otherwise JSON. */
export function payloadReader(service: Service, spec: Route): (incoming: Incoming) => Promise<Payload> {
  const { BODY_MAX_BYTES, ATTACHMENT_MAX_BYTES: maxFileBytes } = service.config
  const readJson = jsonBodyReader(
    spec.access === 'anyone' ? Math.min(BODY_MAX_BYTES, openBodyMaxBytes) : BODY_MAX_BYTES,
  )
  const accepted = ['application/json', ...(spec.mediaTypes ?? [])]
  const fields = Object.keys((spec.body as TObject | undefined)?.properties ?? {})
  return async ({ request, response, upload }) => {
    if (spec.multipart === undefined || upload === null) return readJson(request, response, accepted)
    const body = await readForm(request, { ...spec.multipart, fields, maxFileBytes }, upload)
    return { body, mediaType: 'multipart/form-data' }
  }
}

/** The largest JSON body of an endpoint without a token, in bytes. */
const openBodyMaxBytes = 16_384

/** What of a body makes two requests the same: parts, not bytes, since every form has a boundary of its own (decisions D44). */
export function fingerprinted(body: object, upload: Upload | null): object {
  if (upload?.received == null) return body
  const { filename, contentType, sha256 } = upload.received
  return { ...body, file: { filename, contentType, sha256 } }
}

/** Removes a received file that was not claimed, since the request failed or repeats an earlier one. */
export async function releaseUpload(service: Service, upload: Upload | null): Promise<void> {
  await upload?.release().catch((err) => service.log.warn({ err }, 'a received file is left to the sweep'))
}
