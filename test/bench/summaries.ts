import type { Site } from '../support/site.ts'
import { alternate, type Figure, ms, percentile, rate } from './harness.ts'

const folders = 1000
const blocks = 1000
const rounds = 5
const singles = 200

/**
 * Measures the tree of a large knowledge base with all its summaries, against the tree without summaries and against
 * one request for each summary. Also measures the summary of a long document for a question, against its plain summary.
 * `documents` is the number of documents in the thousand folders.
 */
export async function measureSummaries(site: Site, { documents = 2000 }: { documents?: number }): Promise<Figure[]> {
  // The tree may have as many documents as the quota allows.
  const query = await measureQuery(site)
  return [...(await measureTree(site, documents)), ...query]
}

async function measureTree(site: Site, documents: number): Promise<Figure[]> {
  const base = (await site.client.post('/knowledge-bases', { name: 'Large' })).body.data.id as number
  await fill(site, { base, documents })
  const path = `/knowledge-bases/${base}/tree`
  const cold = await timed(site, `${path}?include_summary=true`)
  const first: Record<string, number[]> = { plain: [], summaries: [] }
  const sides = await alternate(rounds, {
    plain: async () => noted(first['plain'], await timed(site, path)),
    summaries: async () => noted(first['summaries'], await timed(site, `${path}?include_summary=true`)),
  })
  const ids = (await site.ask('SELECT id FROM documents WHERE knowledge_base_id = $1 LIMIT $2', [base, singles])).map(
    (row) => row.id as string,
  )
  const perSecond = await rate({ count: singles, concurrency: 4 }, (index) =>
    site.client.get(`/documents/${ids[index % ids.length]}/summary`),
  )
  const name = `tree of ${documents} documents in ${folders} folders`
  const alone = ((documents + folders) / perSecond) * 1000
  return [
    { name: `${name}, first byte / total`, value: pair(percentile(first['plain'] ?? [], 50), sides.plain) },
    {
      name: `${name} with summaries, first byte / total`,
      value: `${pair(percentile(first['summaries'] ?? [], 50), sides.summaries)} (${(cold.bytes / 1e6).toFixed(1)} MB)`,
      bar: `a tenth of asking for each: ${ms(alone)}`,
      met: sides.summaries < alone / 10,
    },
    { name: `${name} with summaries, when every body is new`, value: pair(cold.firstByte, cold.total) },
  ]
}

async function measureQuery(site: Site): Promise<Figure[]> {
  const words = ['elephant', 'whale', 'water', 'grass', 'migration', 'herd', 'season', 'river']
  const paragraphs = Array.from({ length: blocks }, (_, index) => {
    const sentence = Array.from({ length: 30 }, (_, word) => words[(index * 7 + word * word) % words.length]).join(' ')
    return index % 20 === 0 ? `## Chapter ${index}` : `${sentence} number ${index}.`
  })
  const reply = await site.client.post('/documents', {
    title: 'Long',
    knowledge_base_id: site.knowledgeBase,
    content: { format: 'markdown', content: paragraphs.join('\n\n') },
  })
  const path = `/documents/${reply.body.data.id}/summary`
  const sides = await alternate(20, {
    fallback: async () => (await timed(site, path)).total,
    query: async () => (await timed(site, `${path}?query=migration+of+whales+number+777`)).total,
  })
  return [
    { name: `summary of ${blocks} blocks, p50`, value: ms(sides.fallback) },
    {
      name: `summary of ${blocks} blocks for a question, p50`,
      value: ms(sides.query),
      bar: '250 ms',
      met: sides.query < 250,
    },
  ]
}

type Timing = { firstByte: number; total: number; bytes: number }

async function timed(site: Site, path: string): Promise<Timing> {
  const started = performance.now()
  const response = await fetch(`${site.client.origin}/api/v1${path}`, {
    headers: { authorization: `Bearer ${site.client.bearer}` },
  })
  const firstByte = performance.now() - started
  const { byteLength: bytes } = await response.arrayBuffer()
  if (!response.ok) throw new Error(`${path} answered ${response.status}`)
  return { firstByte, total: performance.now() - started, bytes }
}

function noted(firstBytes: number[] | undefined, timing: Timing): number {
  firstBytes?.push(timing.firstByte)
  return timing.total
}

function pair(firstByte: number, total: number): string {
  return `${ms(firstByte)} / ${ms(total)}`
}

// Copies of one document of about thirty blocks, written by SQL, since their text does not matter.
async function fill(site: Site, { base, documents }: { base: number; documents: number }): Promise<void> {
  const chapters = Array.from({ length: 10 }, (_, index) => {
    return `## Chapter ${index}\n\n${'An elephant drinks a hundred litres a day. '.repeat(4)}\n\n* one\n* two`
  })
  const reply = await site.client.post('/documents', {
    title: 'Template',
    knowledge_base_id: base,
    content: { format: 'markdown', content: chapters.join('\n\n') },
  })
  const template: string = reply.body.data.id
  await site.ask(
    `WITH workspace AS (SELECT workspace_id FROM documents WHERE id = $1),
     issued AS (
       INSERT INTO folder_directory (workspace_id) SELECT workspace_id FROM workspace, generate_series(1, $3::int)
       RETURNING workspace_id, id)
     INSERT INTO folders (workspace_id, id, knowledge_base_id, name)
     SELECT workspace_id, id, $2, 'Folder ' || id FROM issued`,
    [template, base, folders],
  )
  // Every second folder is inside another folder.
  await site.ask(
    `UPDATE folders SET parent_id = id - 1 WHERE knowledge_base_id = $1 AND id % 2 = 0
       AND id > (SELECT min(id) FROM folders WHERE knowledge_base_id = $1)`,
    [base],
  )
  await site.ask(
    `INSERT INTO document_directory (id, workspace_id)
     SELECT 'doc_bench_' || n, workspace_id FROM documents, generate_series(1, $2::int) n WHERE id = $1`,
    [template, documents - 2],
  )
  await site.ask(
    `INSERT INTO documents (workspace_id, id, knowledge_base_id, folder_id, title, document_type, heading_numbered,
       collapsed_block_ids, version, body_seq, character_count, node_count, created_by, updated_by)
     SELECT workspace_id, 'doc_bench_' || n, knowledge_base_id,
       (SELECT min(id) FROM folders WHERE knowledge_base_id = $3) + n % $4::int, 'Document ' || n, document_type,
       heading_numbered, collapsed_block_ids, version, 1, character_count, node_count, created_by, updated_by
     FROM documents, generate_series(1, $2::int) n WHERE id = $1`,
    [template, documents - 2, base, folders],
  )
  await site.ask(
    `INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
     SELECT workspace_id, 'doc_bench_' || n, 1, version, body
     FROM document_bodies, generate_series(1, $2::int) n WHERE document_id = $1`,
    [template, documents - 2],
  )
  await site.ask('ANALYZE')
}
