import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { startApi } from '../support/processes.ts'
import { copyIndexedDocuments } from '../support/search-copies.ts'
import type { Site } from '../support/site.ts'
import { rate } from './harness.ts'
import { crossed, paragraphs } from './search-paragraphs.ts'

const blocksPerDocument = 20

/**
 * Documents of twenty blocks of real prose, code and lists, in mixed order. When all paragraphs are used, the beginning
 * of one paragraph is joined with the end of another.
 */
export function corpus(documents: number): string[] {
  const distinct = paragraphs()
  // A step without a common divisor visits all paragraphs before any of them again.
  const step = 7919
  const at = (index: number) => distinct[(index * step) % distinct.length] ?? ''
  const blockAt = (index: number) => {
    const round = Math.floor(index / distinct.length)
    return round === 0 ? at(index) : crossed(at(index), at(index + 13 * round))
  }
  return Array.from({ length: documents }, (_, document) =>
    Array.from({ length: blocksPerDocument }, (_, index) => blockAt(document * blocksPerDocument + index)).join('\n\n'),
  )
}

/** Writes documents over HTTP. Returns the documents per second. */
export async function writeCorpus(site: Site, documents: readonly string[]): Promise<number> {
  const api = await startApi(site.env)
  const client = new Client({ origin: api.origin, token: site.client.bearer ?? '' })
  try {
    return await rate({ count: documents.length, concurrency: 8 }, async (index) => {
      const text = documents[index] ?? ''
      const content = { format: 'markdown', content: text }
      const reply = await client.post('/documents', {
        title: titleOf(text),
        knowledge_base_id: site.knowledgeBase,
        content,
      })
      if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
    })
  } finally {
    await api.stop()
  }
}

// A title has the first two to eight words, so that titles differ as much as those of people.
function titleOf(text: string): string {
  const words = text.match(/\p{L}[\p{L}\p{N}]*/gu) ?? []
  return words
    .slice(0, 2 + (text.length % 7))
    .join(' ')
    .slice(0, 100)
}

/** Indexes everything with two worker processes. Returns the documents per second. */
export async function indexCorpus(site: Site, documents: number): Promise<number> {
  const stale = async () => {
    const [row] = await site.ask(`SELECT count(*)::int AS count FROM stale_projections WHERE projection = 'search'`)
    return row.count as number
  }
  const workers = await Promise.all([site.work('search'), site.work('search')])
  const begun = performance.now()
  while ((await stale()) > 0) await sleep(100)
  const seconds = (performance.now() - begun) / 1000
  for (const worker of workers) await worker.stop()
  // Otherwise PostgreSQL would do the rest of its upkeep while searches are timed.
  await site.ask('VACUUM ANALYZE')
  await site.ask('CHECKPOINT')
  return documents / seconds
}

/** Copies every indexed document with its index until there are `documents`, which takes seconds. */
export async function copyCorpus(site: Site, documents: number): Promise<void> {
  const [{ count, definition }] = await site.ask(`
    SELECT count(*)::int AS count, pg_get_indexdef('search_blocks_tsv_idx'::regclass) AS definition FROM documents`)
  await site.ask('DROP INDEX search_blocks_tsv_idx')
  await copyIndexedDocuments(site.ask, documents / count - 1)
  await site.ask(definition)
  await site.ask('VACUUM ANALYZE')
  await site.ask('CHECKPOINT')
}
