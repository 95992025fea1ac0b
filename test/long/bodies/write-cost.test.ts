import { startSite, until } from '../../support/site.ts'
import { t } from '../../support/tap.ts'

const documents = 8
const rounds = 5
const vocabulary = 'service keeps knowledge bases folders documents bodies people edit while programs write'.split(' ')
let paragraphs = 0

// Disks, backups and replicas take in all that a write logs. Pages that a checkpoint makes PostgreSQL log in full are
// left out, since their number depends on the time. A row or an index entry more for each write is some 150 bytes.
const site = await startSite(t, { postgres: { full_page_writes: 'off', autovacuum: 'off', fsync: 'off' } })
await site.work('search', 'changes', 'relations', 'events')

t.test('changing one of ten paragraphs writes its own rows to the log, not those of the other nine', async (t) => {
  const bodies = await createBodies()
  const change = async ({ id, content }: Body, round: number) => {
    content[round % 10] = { ...content[round % 10], content: [{ type: 'text', text: paragraph() }] }
    await put(id, { format: 'tiptap-json', document: { type: 'doc', content } })
  }
  const bytes = await bytesPerWrite(bodies, change)
  t.ok(bytes <= 18_000, `${bytes} bytes`)
})

t.test('plain Markdown, which gives every block a new id, has only its changed paragraph indexed anew', async (t) => {
  const bodies = await createBodies()
  const change = async ({ id, texts }: Body, round: number) => {
    texts[round % 10] = paragraph()
    await put(id, { format: 'markdown', content: texts.join('\n\n') })
  }
  const bytes = await bytesPerWrite(bodies, change)
  t.ok(bytes <= 23_000, `${bytes} bytes`)
  const rows = await site.ask(`
    SELECT max(written)::int AS written FROM (
      SELECT document_id, count(*) FILTER (WHERE xmin::text = newest) AS written FROM (
        SELECT document_id, xmin, max(xmin::text::bigint) OVER (PARTITION BY document_id)::text AS newest
        FROM search_blocks) AS rows GROUP BY document_id) AS documents`)
  t.strictSame(rows, [{ written: 1 }], 'the last write of each document wrote one row')
})

type Body = { id: string; texts: string[]; content: object[] }

/** Creates documents of ten paragraphs, and writes each once, so that what a first write creates is there. */
async function createBodies(): Promise<Body[]> {
  const bodies: Body[] = []
  while (bodies.length < documents) {
    const texts = Array.from({ length: 10 }, paragraph)
    const content = { format: 'markdown', content: texts.join('\n\n') }
    const made = await site.client.post('/documents', { title: 'Cost', knowledge_base_id: site.knowledgeBase, content })
    const { id } = made.body.data
    const read = await site.client.get(`/documents/${id}/content`)
    bodies.push({ id, texts, content: read.body.data.document.content })
  }
  return bodies
}

async function bytesPerWrite(bodies: Body[], change: (body: Body, round: number) => Promise<void>): Promise<number> {
  await untilDerived()
  const begun = await position()
  for (let round = 0; round < rounds; round += 1) {
    for (const body of bodies) await change(body, round)
    await untilDerived()
  }
  return Math.round(((await position()) - begun) / (rounds * bodies.length))
}

async function put(id: string, body: object): Promise<void> {
  const reply = await site.client.put(`/documents/${id}/content`, body, { 'if-match': '*' })
  if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
}

/** Resolves when nothing is stale, no job of a projection is left, and every event has its number. */
function untilDerived(): Promise<void> {
  return until(async () => {
    const [row] = await site.ask(`
      SELECT (SELECT count(*) FROM stale_projections) + (SELECT count(*) FROM events WHERE event_id IS NULL)
        + (SELECT count(*) FROM pgboss.job WHERE data ? 'document_id' AND state < 'completed') AS open`)
    return Number(row.open) === 0
  })
}

async function position(): Promise<number> {
  const [row] = await site.ask(`SELECT pg_current_wal_insert_lsn() - '0/0' AS bytes`)
  return Number(row.bytes)
}

/** A paragraph of forty words in English. No two paragraphs are alike. */
function paragraph(): string {
  paragraphs += 1
  const word = (index: number) => `the ${vocabulary[(index * paragraphs) % vocabulary.length]}${paragraphs + index}`
  return Array.from({ length: 20 }, (_, index) => word(index)).join(' ')
}
