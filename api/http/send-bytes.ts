import { pipeline } from 'node:stream/promises'
import { create as contentDisposition } from 'content-disposition'
import type { Response } from 'express'
import type { AttachmentRow } from '../../shared/attachments/queries.ts'
import type { FileStore } from '../../shared/attachments/store.ts'
import { openBytes } from '../../shared/attachments/store.ts'

// The longest time, in milliseconds, for which a client may take no byte. After this time the connection is cut.
const pauseMs = 60_000

/**
 * The headers of a download (api/guide/attachments.md#references). The browser saves the file under its name. The
 * browser neither guesses the type nor shows the file.
 */
export function bytesHeaders(attachment: Pick<AttachmentRow, 'filename' | 'size'>): Record<string, string> {
  return {
    'Content-Disposition': contentDisposition(attachment.filename),
    'Content-Length': String(attachment.size),
    'X-Content-Type-Options': 'nosniff',
    'Accept-Ranges': 'none',
    'Content-Security-Policy': "default-src 'none'; sandbox",
  }
}

/**
 * Sends the bytes of an attachment as fast as the client takes them. A failure before the first byte is answered with
 * 503. A later failure cuts the connection, so that no client takes a part for the whole file.
 */
export async function sendBytes(
  files: FileStore,
  input: { attachment: Pick<AttachmentRow, 'id'>; response: Response },
): Promise<void> {
  const { response } = input
  let bytes: Awaited<ReturnType<typeof openBytes>>
  try {
    bytes = await openBytes(files, input.attachment)
  } catch (error) {
    for (const name of ['Content-Disposition', 'Content-Length', 'Content-Type', 'ETag']) response.removeHeader(name)
    throw error
  }
  response.setTimeout(pauseMs, () => response.destroy())
  try {
    await pipeline(bytes, response)
  } catch (error) {
    // A client that closes the connection is no fault of the service.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}
