import { type ErrorCode, KnowledgeBaseError } from './errors.ts'

/**
 * The bytes of an answer as they arrive. Reading fails with a KnowledgeBaseError when the connection breaks, or when
 * nothing arrives for `idle` milliseconds while the reader waits. The caller's signal makes it fail with its reason.
 */
export function watched(
  body: ReadableStream<Uint8Array>,
  { idle, signal }: { idle: number; signal?: AbortSignal | undefined },
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await nextChunk(reader, { idle, signal })
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    // Nothing is read ahead, so that a slow reader takes no memory.
    { highWaterMark: 0 },
  )
}

async function nextChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { idle, signal }: { idle: number; signal?: AbortSignal | undefined },
) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(broken('timeout', `nothing has arrived for ${idle} ms`)), idle)
  })
  try {
    return await Promise.race([reader.read(), silence])
  } catch (error) {
    reader.cancel(error).catch(() => {})
    signal?.throwIfAborted()
    if (error instanceof KnowledgeBaseError) throw error
    throw broken('connection_failed', 'the connection broke before the end', error)
  } finally {
    clearTimeout(timer)
  }
}

function broken(code: ErrorCode, message: string, cause?: unknown): KnowledgeBaseError {
  return new KnowledgeBaseError(message, { code, cause })
}
