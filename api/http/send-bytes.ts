import { pipeline } from 'node:stream/promises'
import { create as contentDisposition } from 'content-disposition'
import type { Response } from 'express'
import type { AttachmentRow } from '../../shared/attachments/queries.ts'
import type { FileStore } from '../../shared/attachments/store.ts'
import { openBytes } from '../../shared/attachments/store.ts'

/** The headers of a download: to be saved under its name, never guessed at, never shown (decisions 4.14). */
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
 * Sends the bytes of an attachment as fast as the client takes them. Before the first byte a failure is answered with
 * 503; after it the connection is cut, so that nobody takes a part for the whole.
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
    // A client that goes away is no fault.
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  }
}

// How long a client may take nothing at all.
const pauseMs = 60_000
