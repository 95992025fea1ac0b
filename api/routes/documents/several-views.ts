import { BlockLines } from '../../../shared/body/block-lines.ts'
import { outlineOf } from '../../../shared/body/outline.ts'
import { estimateTokens, type ReadView } from '../../../shared/body/read.ts'
import { bodiesComputation, StoredBody } from '../../../shared/body/stored-body.ts'
import { compute } from '../../../shared/computations/compute.ts'
import type { FreshBody } from '../../../shared/reading/queries.ts'
import { readPart, readStart } from '../body/body-views.ts'

/** The tokens and the bytes of JSON that one document may have in an answer about several documents. */
export type Share = { tokens: number; bytes: number }

/** Bodies to be written into one answer, as plain data. */
export type SeveralView = { bodies: readonly FreshBody[]; view: ReadView | 'outline'; share: Share }

/**
 * The items of bodies in an answer about several documents, each as JSON text, in the order of the bodies. An item is
 * cut to its share. The items are computed without blocking the event loop, in a thread unless the bodies are small.
 * Rejects with ComputationLimitError when the bodies take too much processor time or memory.
 */
export function itemTexts(view: SeveralView): Promise<string[]> {
  return compute(items, view)
}

/** Writes the items of an answer as JSON text. A thread imports this function by its name. @public */
export function renderItems({ bodies, view, share }: SeveralView): string[] {
  return bodies.map((body) => {
    const { id, version, freshness } = body
    const heading = { id, document_id: id, document_uri: `svc://doc/${id}`, version, view, max_tokens: share.tokens }
    const part = view === 'outline' ? outlinePart(body, share) : contentPart(body, { view, share })
    return JSON.stringify({ ...heading, ...part, freshness })
  })
}

const items = bodiesComputation({
  module: import.meta.url,
  run: renderItems,
  lengthOf: ({ bodies }: SeveralView) => bodies.reduce((length, { body }) => length + body.length, 0),
})

// The first blocks of a body, as far as the tokens go. The first block is always taken, and it alone may be larger than
// the bytes; then the item has no block at all. In both cases the cursor leads on to the first block that was left out.
function contentPart(body: FreshBody, { view, share }: { view: ReadView; share: Share }): object {
  const lines = new BlockLines(body.body.split('\n'))
  const request = { params: { id: body.id }, query: { max_tokens: share.tokens }, view, version: body.version }
  const part = readPart(lines, { endpoint: readEndpoint, ...request })
  if (Buffer.byteLength(JSON.stringify(part)) <= share.bytes) return part
  return {
    estimated_tokens: 0,
    budget_exceeded: false,
    truncated: true,
    omitted_ranges: [{ from_position: 0, to_position: lines.length - 1 }],
    has_more: true,
    next_cursor: readStart({ endpoint: readEndpoint, ...request }),
    warnings: [],
  }
}

// The endpoint that reads on where an item ends.
const readEndpoint = 'GET /documents/{id}/read'

function outlinePart({ body }: FreshBody, share: Share): object {
  const { sections } = outlineOf(new StoredBody({ version: '', text: body }).document.content)
  const left = { ...share }
  const taken = []
  for (const section of sections) {
    const text = JSON.stringify(section)
    left.tokens -= estimateTokens(text)
    left.bytes -= Buffer.byteLength(text) + 1
    if (left.bytes < 0 || (left.tokens < 0 && taken.length > 0)) break
    taken.push(section)
  }
  return {
    sections: taken,
    estimated_tokens: estimateTokens(JSON.stringify(taken)),
    truncated: taken.length < sections.length,
  }
}
