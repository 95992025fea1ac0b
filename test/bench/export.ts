import { execFileSync } from 'node:child_process'
import pg from 'pg'
import { ZipFile } from 'yazl'
import { markdownFiles } from '../support/markdown-files.ts'
import type { Site } from '../support/site.ts'
import { copyDocuments } from './copied-documents.ts'
import { type Figure, ms } from './harness.ts'

/**
 * Measures the download of a knowledge base: the time to the first byte, the speed after it, and the memory of the API
 * process, which must level off. The baseline reads the same rows with plain pg into a bare zip without Markdown. It
 * runs in this process and keeps everything in memory.
 */
export async function measureExport(site: Site, { documents = 2000 }: { documents?: number }): Promise<Figure[]> {
  const base = await multiply(site, documents)
  const resting = resident(site)
  const eager = await download(site, base)
  const slow = await download(site, base, 2)
  const bare = await bareZip(site, base)
  const [first, second] = peaks(eager.samples)
  return [
    { name: `export of ${documents} documents, first byte`, value: ms(eager.firstByte) },
    { name: 'the whole archive', value: `${(eager.bytes / 1e6).toFixed(1)} MB in ${(eager.ms / 1000).toFixed(1)} s` },
    { name: 'the same rows into a bare zip, without Markdown', value: `${(bare / 1000).toFixed(1)} s` },
    { name: 'resident memory of the API before', value: `${resting} MB` },
    { name: 'at most, first half of the download', value: `${first} MB` },
    { name: 'at most, second half', value: `${second} MB`, bar: 'first + 10 %', met: second <= first * 1.1 },
    { name: 'at most, for a reader that pauses', value: `${Math.max(...slow.samples)} MB` },
  ]
}

function peaks(samples: readonly number[]): [number, number] {
  const middle = Math.ceil(samples.length / 2)
  return [Math.max(...samples.slice(0, middle)), Math.max(...samples.slice(middle))]
}

type Download = { firstByte: number; ms: number; bytes: number; samples: number[] }

/** Makes a knowledge base of `count` documents, which are copies of some documents written over the API. */
async function multiply(site: Site, count: number): Promise<number> {
  const { body } = await site.client.post('/knowledge-bases', { name: `Export ${count}` })
  const base = body.data.id as number
  const files = markdownFiles(400).filter(({ text }) => text.length > 1000 && text.length < 10_000)
  const originals = files.slice(0, 40)
  const ids: string[] = []
  for (const { text } of originals) {
    const content = { format: 'markdown', content: text }
    const { body } = await site.client.post('/documents', { title: 'Original', knowledge_base_id: base, content })
    ids.push(body.data.id)
  }
  await copyDocuments(site, { ids, times: Math.floor(count / originals.length) - 1 })
  return base
}

// The reader pauses for `pace` milliseconds after each part.
async function download(site: Site, base: number, pace = 0): Promise<Download> {
  const started = performance.now()
  const samples = [resident(site)]
  const sampling = setInterval(() => samples.push(resident(site)), 250)
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
  return { firstByte, ms: performance.now() - started, bytes, samples }
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
