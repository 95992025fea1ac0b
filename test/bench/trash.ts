import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { workerTypes } from '../../workers/types.ts'
import type { Client, Reply } from '../support/client.ts'
import { markdownFiles } from '../support/markdown-files.ts'
import { type Site, search, until } from '../support/site.ts'
import { type Figure, ms, percentile, rate } from './harness.ts'

/*
 * Deletes, restores and purges a knowledge base with two bodies, a version and the derived rows of each document.
 * Meanwhile a person writes to a document of another knowledge base of the same workspace. PostgreSQL logs how long
 * each statement takes. Each figure of the writer is of the writes beside the measured call.
 */

/** Measures the trash with a knowledge base of `documents` documents. */
export async function measureTrash(site: Site, { documents = 10_000 }: { documents?: number }): Promise<Figure[]> {
  await site.work(...Object.keys(workerTypes))
  const base = await fill(site, documents)
  const entry = async () => (await site.client.get('/trash?limit=1')).body.data[0].id as string
  const figures = [{ name: 'writes of a person with nothing beside them', value: await alone(site) }]
  const remove = () => site.client.delete(`/knowledge-bases/${base}?confirm_id=${base}`)
  const measured = (name: string, call: () => Promise<Reply>) => beside(site, { name, call, documents })
  figures.push(...(await measured('delete', remove)))
  figures.push({ name: 'rows and bytes in the trash', value: await sizeOfTrash(site) })
  const first = await entry()
  figures.push(...(await measured('restore', () => site.client.post(`/trash/${first}/restore`))))
  const restored = performance.now()
  await untilIndexed(site)
  figures.push({ name: 'restored until everything is derived', value: ms(performance.now() - restored) })
  await remove()
  const second = await entry()
  figures.push(...(await measured('purge', () => site.client.delete(`/trash/${second}`))))
  figures.push({ name: 'rows and bytes in the trash at the end', value: await sizeOfTrash(site) })
  return figures
}

async function fill(site: Site, documents: number): Promise<number> {
  const base = (await site.client.post('/knowledge-bases', { name: 'Trash' })).body.data.id as number
  const texts = markdownFiles(200).map(({ text }) => text.slice(0, 4000))
  await rate({ count: documents, concurrency: 8 }, async (index) => {
    const content = { format: 'markdown', content: texts[index % texts.length] }
    const created = await site.client.post('/documents', {
      title: `Document ${index}`,
      knowledge_base_id: base,
      content,
    })
    if (created.status !== 201) throw new Error(`${created.status} ${created.text}`)
    const path = `/documents/${created.body.data.id}/blocks`
    const nodes = [{ type: 'paragraph', content: [{ type: 'text', text: 'A paragraph more' }] }]
    await site.client.post(path, { position: { document_end: true }, nodes })
  })
  await untilIndexed(site)
  await site.ask('ANALYZE')
  return base
}

async function untilIndexed(site: Site): Promise<void> {
  await until(async () => (await search(site, 'paragraph')).projection.complete)
  await until(async () => (await site.ask('SELECT FROM stale_projections LIMIT 1')).length === 0)
}

async function alone(site: Site): Promise<string> {
  const writer = await startWriter(site.client, site.knowledgeBase)
  await until(async () => writer.times.length >= 100)
  return told(await writer.stop())
}

// Runs a call beside a writer, with the log of all statements. Returns the time of the call, its longest statement and
// the waits of the writer.
async function beside(
  site: Site,
  input: { name: string; call: () => Promise<Reply>; documents: number },
): Promise<Figure[]> {
  const log = join(site.env['DATA_DIR'] ?? '', 'postgres.log')
  await configure(site, `SET log_min_duration_statement = '20ms'`)
  const from = readFileSync(log, 'utf8').length
  const writer = await startWriter(site.client, site.knowledgeBase)
  const begun = performance.now()
  const reply = await input.call()
  const took = performance.now() - begun
  const waits = await writer.stop()
  if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text}`)
  await configure(site, 'RESET log_min_duration_statement')
  const durations = [
    ...readFileSync(log, 'utf8')
      .slice(from)
      .matchAll(/duration: ([\d.]+) ms/g),
  ]
  const longest = Math.max(0, ...durations.map(([, duration]) => Number(duration)))
  return [
    { name: `${input.name} of ${input.documents.toLocaleString('en')} documents`, value: ms(took) },
    { name: `${input.name}: its longest statement`, value: ms(longest), bar: 'under 1 s', met: longest < 1000 },
    { name: `${input.name}: writes of a person beside it`, value: told(waits) },
  ]
}

// Writes to a document, one write after the other, until it is stopped. The times are in milliseconds.
async function startWriter(client: Client, knowledgeBase: number) {
  const { body } = await client.post('/documents', { title: 'Beside', knowledge_base_id: knowledgeBase })
  const times: number[] = []
  let isOver = false
  const writing = (async () => {
    while (!isOver) {
      const begun = performance.now()
      const content = { format: 'markdown', content: `Write ${times.length}` }
      const reply = await client.put(`/documents/${body.data.id}/content`, content, { 'if-match': '*' })
      if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
      times.push(performance.now() - begun)
    }
  })()
  return {
    times,
    async stop() {
      isOver = true
      await writing
      return times
    },
  }
}

function told(times: readonly number[]): string {
  const [median, slow, most] = [percentile(times, 50), percentile(times, 99), Math.max(...times)]
  return `p50 ${ms(median)}, p99 ${ms(slow)}, at most ${ms(most)} of ${times.length}`
}

async function sizeOfTrash(site: Site): Promise<string> {
  const [{ rows, bytes }] = await site.ask(`
    SELECT count(*) AS rows, coalesce(sum(pg_column_size(row)), 0) AS bytes FROM trash_rows`)
  return `${Number(rows).toLocaleString('en')} rows, ${(Number(bytes) / 1e6).toFixed(1)} MB`
}

async function configure(site: Site, setting: string): Promise<void> {
  await site.ask(`ALTER SYSTEM ${setting}`)
  await site.ask('SELECT pg_reload_conf()')
}
