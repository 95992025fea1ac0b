import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createDocument, type Site, search } from '../support/site.ts'
import { type Figure, ms, percentile } from './harness.ts'

const rounds = 20
const warmUps = 100

/** Measures the processor time of indexing one changed block of a thousand, without the job around it. */
export async function measureOneBlock(site: Site): Promise<Figure> {
  const paragraphs = Array.from({ length: 1000 }, (_, index) => `Paragraph ${index} says the same again.`)
  const document = await createDocument(site, paragraphs.join('\n\n'))
  const { body } = await site.client.get(`/documents/${document.id}/content`)
  const block = `/documents/${document.id}/blocks/${body.data.document.content[500].attrs.id}`
  const [job] = await site.ask('SELECT workspace_id, id AS document_id FROM documents WHERE id = $1', [document.id])
  const indexer = fork(fileURLToPath(import.meta.resolve('./indexer-process.ts')), [site.url])
  indexer.once('exit', (code) => {
    if (code !== 0) throw new Error('the indexer has failed')
  })
  const index = async (): Promise<{ cost: number; rows: number }> => {
    indexer.send(job)
    return (await once(indexer, 'message'))[0]
  }
  // These runs compile the code, as in a worker that has run for hours.
  for (let round = 0; round < warmUps; round += 1) await index()
  const costs: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const text = `Paragraph 500 says ${round} again.`
    await site.client.patch(block, { content: [{ type: 'text', text }] }, { 'if-match': '*' })
    const { cost, rows } = await index()
    if (rows !== 1) throw new Error(`${rows} rows are written for one block`)
    costs.push(cost)
  }
  indexer.disconnect()
  const median = percentile(costs, 50)
  return {
    name: 'one block of 1,000 changed, CPU of the worker, p50',
    value: ms(median),
    bar: 'under 10 ms',
    met: median < 10,
  }
}

/** Measures the time from the answer to a write until a search of the whole corpus finds it. */
export async function measureFreshHit(site: Site): Promise<Figure[]> {
  const worker = await site.work('search', 'events')
  const delays: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    await createDocument(site, `a freshly${round}written paragraph`)
    const answered = performance.now()
    while ((await search(site, `freshly${round}written`)).results.length === 0);
    delays.push(performance.now() - answered)
  }
  await worker.stop()
  return [50, 95].map((percent) => ({
    name: `write answered to fresh hit in the corpus, p${percent}`,
    value: ms(percentile(delays, percent)),
  }))
}
