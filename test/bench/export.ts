import { execFileSync } from 'node:child_process'
import pg from 'pg'
import { ZipFile } from 'yazl'
import { markdownFiles } from '../support/markdown-files.ts'
import type { Site } from '../support/site.ts'
import { type Figure, ms } from './harness.ts'

/**
 * Downloads a knowledge base and one of a tenth of its size: how soon the first byte comes, how fast the rest, and what
 * the process keeps in memory meanwhile. Beside it the least that could be done, the same rows by plain pg into a bare
 * zip, without Markdown; that is made in this process and keeps it all.
 */
export async function measureExport(site: Site, options: { documents: number }): Promise<Figure[]> {
  const large = await multiply(site, options.documents)
  const small = await multiply(site, Math.ceil(options.documents / 10))
  const resting = resident(site)
  // Some rounds first: what a process takes for any work is not what this one costs.
  for (let round = 0; round < 3; round += 1) await download(site, small)
  const few = await download(site, small)
  const many = await download(site, large)
  const slow = await download(site, large, 2)
  const bare = await bareZip(site, large)
  return [
    { name: `export of ${options.documents} documents, first byte`, value: ms(many.firstByte) },
    { name: 'the whole archive', value: `${(many.bytes / 1e6).toFixed(1)} MB in ${(many.ms / 1000).toFixed(1)} s` },
    { name: 'of which per second', value: `${((many.bytes / 1e6 / many.ms) * 1000).toFixed(1)} MB` },
    { name: 'the same rows into a bare zip, without Markdown', value: `${(bare / 1000).toFixed(1)} s` },
    { name: 'resident memory of the API before', value: `${resting} MB` },
    { name: 'at most, a tenth of the documents', value: `${few.peak} MB` },
    { name: 'at most, all of them', value: `${many.peak} MB`, bar: 'a tenth + 60 MB', met: many.peak - few.peak < 60 },
    { name: 'at most, all of them to a reader that pauses', value: `${slow.peak} MB` },
  ]
}

type Download = { firstByte: number; ms: number; bytes: number; peak: number }

/** A knowledge base of so many documents, copies of some that were written over the API. */
async function multiply(site: Site, count: number): Promise<number> {
  const { body } = await site.client.post('/knowledge-bases', { name: `Export ${count}` })
  const base = body.data.id as number
  const files = markdownFiles(400).filter(({ text }) => text.length > 1000 && text.length < 10_000)
  const originals = files.slice(0, 40)
  for (const { text } of originals) {
    const content = { format: 'markdown', content: text }
    await site.client.post('/documents', { title: 'Original', knowledge_base_id: base, content })
  }
  await site.ask(copies, [base, Math.floor(count / originals.length) - 1])
  return base
}

const copies = `
  WITH copied AS (
    SELECT d.workspace_id, d.id AS original, d.id || '_' || n AS id
    FROM documents d, generate_series(1, $2::int) n WHERE d.knowledge_base_id = $1
  ), listed AS (
    INSERT INTO document_directory (id, workspace_id) SELECT id, workspace_id FROM copied
  ), described AS (
    INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
      collapsed_block_ids, version, body_seq, character_count, node_count)
    SELECT c.workspace_id, c.id, d.knowledge_base_id, 'Copy', d.document_type, d.heading_numbered,
      d.collapsed_block_ids, d.version, 1, d.character_count, d.node_count
    FROM copied c JOIN documents d ON d.id = c.original
  )
  INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
  SELECT c.workspace_id, c.id, 1, b.version, b.body FROM copied c JOIN document_bodies b ON b.document_id = c.original`

// With a pace, the reader takes nothing for so many milliseconds after each part.
async function download(site: Site, base: number, pace = 0): Promise<Download> {
  const started = performance.now()
  let peak = resident(site)
  const sampling = setInterval(() => {
    peak = Math.max(peak, resident(site))
  }, 250)
  const response = await fetch(`${site.client.origin}/api/v1/knowledge-bases/${base}/export`, {
    headers: { authorization: `Bearer ${site.client.bearer}` },
  })
  if (!response.ok || response.body === null) throw new Error(`${response.status}`)
  let [firstByte, bytes] = [0, 0]
  for await (const part of response.body) {
    firstByte ||= performance.now() - started
    bytes += part.length
    if (pace > 0) await new Promise((resolve) => setTimeout(resolve, pace))
  }
  clearInterval(sampling)
  return { firstByte, ms: performance.now() - started, bytes, peak }
}

async function bareZip(site: Site, base: number): Promise<number> {
  const client = new pg.Client(site.url)
  await client.connect()
  const started = performance.now()
  const { rows } = await client.query<{ id: string; body: string }>(
    'SELECT d.id, b.body FROM documents d JOIN document_bodies b ON b.document_id = d.id WHERE knowledge_base_id = $1',
    [base],
  )
  const zip = new ZipFile()
  for (const { id, body } of rows) zip.addBuffer(Buffer.from(body), `documents/${id}.json`)
  zip.end()
  for await (const _ of zip.outputStream);
  await client.end()
  return performance.now() - started
}

function resident({ api }: Site): number {
  return Math.round(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(api.pid)], { encoding: 'utf8' })) / 1024)
}
