import { createDocument, type Site, search, until, writeDocument } from '../support/site.ts'
import { type Figure, ms, percentile } from './harness.ts'

const samples = 60

/** Measures the time from the answer to a write until a search finds its text, with one writer on an idle service. */
export async function measureFreshness(site: Site): Promise<Figure[]> {
  await site.work('search', 'events', 'sweeps')
  const documents = await Promise.all(Array.from({ length: samples }, () => createDocument(site, 'before')))
  await until(async () => (await search(site, 'before')).projection.complete)
  const delays: number[] = []
  const searches: number[] = []
  for (const [index, document] of documents.entries()) {
    await writeDocument(site, document, `fresh${index}`)
    const answered = performance.now()
    for (let hits = 0; hits === 0; ) {
      const asked = performance.now()
      hits = (await search(site, `fresh${index}`)).results.length
      searches.push(performance.now() - asked)
    }
    delays.push(performance.now() - answered)
  }
  const median = percentile(delays, 50)
  return [
    { name: 'write answered to fresh hit, p50', value: ms(median), bar: 'under 150 ms', met: median < 150 },
    { name: 'write answered to fresh hit, p95', value: ms(percentile(delays, 95)) },
    { name: 'one search, p50', value: ms(percentile(searches, 50)) },
  ]
}
