import { pipeline } from 'node:stream/promises'
import type { Response } from 'express'
import { Archive } from '../../shared/export/archive.ts'

/** How long a reader may take nothing at all, and how long the whole answer may take. */
export type Patience = { pauseMs: number; wholeMs: number }

/**
 * Answers with an archive while `write` makes it. A reader that goes away or is too slow stops it; when it fails, the
 * connection is cut, so that half an archive is never taken for a whole one. Throws what `write` threw, and nothing
 * when the reader was the reason.
 */
export async function sendArchive(
  response: Response,
  patience: Patience,
  write: (archive: Archive) => Promise<void>,
): Promise<void> {
  // Whoever has left meanwhile would never be noticed by its absence again.
  if (response.destroyed) return
  const archive = new Archive()
  const over = AbortSignal.timeout(patience.wholeMs)
  response.setTimeout(patience.pauseMs, () => response.destroy())
  let failure: unknown
  const written = write(archive).catch((error: unknown) => {
    // What fails because nobody reads any more is no failure of ours.
    if (!archive.stream.destroyed) failure = error
    archive.fail(error instanceof Error ? error : new Error(String(error)))
  })
  await pipeline(archive.stream, response, { signal: over }).catch(() => {})
  await written
  if (failure !== undefined) throw failure
}
