/** One event of a stream of Server-Sent Events. `id` is the last id that the stream has named up to here. */
export type ServerSentEvent = { id: string; name: string; data: string }

// The longest text between two line ends. An event of the service has a few hundred characters.
const longestLine = 1_000_000

/**
 * Reads Server-Sent Events as the HTML standard describes them. Throws a RangeError for a line without an end. The
 * member `retry` and comments are passed over.
 */
export async function* serverSentEvents(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerSentEvent, void> {
  let event = { id: '', name: '', data: [] as string[] }
  for await (const line of linesOf(stream)) {
    if (line === '') {
      const { id, name, data } = event
      if (data.length > 0) yield { id, name: name || 'message', data: data.join('\n') }
      event = { id, name: '', data: [] }
      continue
    }
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (field === 'data') event.data.push(value)
    else if (field === 'event') event.name = value
    else if (field === 'id' && !value.includes('\0')) event.id = value
  }
}

// A line ends with CR, LF or both. A CR at the end of a chunk waits for the next one, which may begin with its LF.
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      rest += decoder.decode(value, { stream: true })
      const held = rest.endsWith('\r') ? '\r' : ''
      const lines = rest.slice(0, rest.length - held.length).split(/\r\n|\n|\r/)
      rest = (lines.pop() ?? '') + held
      if (rest.length > longestLine) throw new RangeError('a line of the event stream is too long')
      yield* lines
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}
