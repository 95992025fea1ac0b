import { fetchPublic, PrivateAddressError } from '../../shared/network/public-fetch.ts'

/** The site of a client metadata document gives no answer at the moment. That says nothing about the program. */
export class SiteUnavailableError extends Error {
  override readonly name = 'SiteUnavailableError'
}

/**
 * Fetches a client metadata document as `fetchPublic` does. Rejects with `SiteUnavailableError` when the connection
 * fails or takes too long, or when the site cannot answer now (429 and 5xx). Reading the body rejects in the same way.
 */
export async function fetchClientDocument(...request: Parameters<typeof fetchPublic>): Promise<Response> {
  const response = await fetchPublic(...request).catch((error: unknown) => {
    throw error instanceof PrivateAddressError ? error : unavailable(error)
  })
  const { status, headers, body } = response
  if (status === 429 || status >= 500) throw unavailable(`status ${status}`)
  return body === null ? response : new Response(ReadableStream.from(whole(body)), { status, headers })
}

async function* whole(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw unavailable(error)
  }
}

function unavailable(cause: unknown): SiteUnavailableError {
  return new SiteUnavailableError('the site of the client metadata document gives no answer', { cause })
}
