import type { Client } from '../../support/client.ts'
import { searchV2 } from '../../support/search.ts'
import type { CorpusDocument } from './corpus.ts'
import type { LabelledQuery } from './queries.ts'

/** Writes documents into a knowledge base. Returns the name of each by its id. */
export async function writeCorpus(
  client: Client,
  documents: readonly CorpusDocument[],
  members: { knowledge_base_id?: number } = {},
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (const { name, title, markdown } of documents) {
    const content = { format: 'markdown', content: markdown }
    const reply = await client.post('/documents', { title, content, ...members })
    if (reply.status !== 201) throw new Error(`${name}: ${reply.status} ${reply.text}`)
    names.set(reply.body.data.id, name)
  }
  return names
}

/**
 * The first twenty documents that a person finds with a query, by their names in the corpus. A person reads the best
 * hits and follows the suggestion where nothing matches. For a query of the kind `prefix` the person is still typing.
 */
export async function documentsFound(
  client: Client,
  { query, names }: { query: LabelledQuery; names: ReadonlyMap<string, string> },
): Promise<string[]> {
  const parameters: Record<string, string | number> = { limit: 100 }
  if (query.kind === 'prefix') parameters.typing = 'true'
  const ask = (q: string) => searchV2(client, { ...parameters, q })
  const { results, suggestion = null } = await ask(query.q)
  const read = results.length === 0 && suggestion !== null ? (await ask(suggestion)).results : results
  const ids = new Set<string>(read.map(({ document_id }: { document_id: string }) => document_id))
  return [...ids].slice(0, 20).map((id) => names.get(id) ?? id)
}
