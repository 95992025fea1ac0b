import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { startApi } from '../support/processes.ts'
import type { Site } from '../support/site.ts'
import { rate } from './harness.ts'
import { crossed, paragraphs } from './search-paragraphs.ts'

const blocksPerDocument = 20

/**
 * Documents of twenty blocks of real prose, code and lists, shuffled. When every paragraph has been used, the beginning
 * of one goes on with the end of another.
 */
export function corpus(documents: number): string[] {
  const distinct = paragraphs()
  // A step without a common divisor visits all of them before one comes again.
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

/** Writes documents over HTTP; returns how many a second. */
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

// The first two to eight words, so that titles are as different as they are among people.
function titleOf(text: string): string {
  const words = text.match(/\p{L}[\p{L}\p{N}]*/gu) ?? []
  return words
    .slice(0, 2 + (text.length % 7))
    .join(' ')
    .slice(0, 100)
}

/** Indexes everything with two worker processes; returns documents a second. */
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
  // Else PostgreSQL would go on with what is left of the load while searches are timed.
  await site.ask('VACUUM ANALYZE')
  await site.askAsSuperuser('CHECKPOINT')
  return documents / seconds
}
