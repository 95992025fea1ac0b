import { type Database, inTransaction, openDatabase } from '../../shared/database/database.ts'
import { lockSource, markCurrent, projectedSeqs } from '../../shared/jobs/projections/queries.ts'
import type { DocumentJob } from '../../shared/jobs/queues.ts'
import { newId } from '../../shared/schema/ids.ts'
import { changesProjection } from '../../workers/changes.ts'
import type { Reply } from '../support/client.ts'
import { markdownFiles } from '../support/markdown-files.ts'
import type { Site } from '../support/site.ts'
import { alternate, type Figure, ms, percentile, rate } from './harness.ts'

const rounds = 20
const referrers = 10_000
const relations = 5000
const merges = 5

/**
 * Measures derived data at sizes at which they could become slow: the change batch of one edit, the relations of a
 * document with many incoming links, a concept with thousands of relations, and the candidates of `files` Markdown
 * files that people wrote. No worker process runs.
 */
export async function measureDerived(site: Site, options: { files: number }): Promise<Figure[]> {
  return [
    ...(await measureChanges(site)),
    ...(await measureCandidates(site, options.files)),
    ...(await measureConcepts(site)),
    ...(await measureReferrers(site)),
  ]
}

// The change batch of one edit as the worker makes it: load, compute and commit, without the job around them. The cost
// of the manifest is part of the PATCH that `bodies` measures.
async function measureChanges(site: Site): Promise<Figure[]> {
  const database = await openDatabase({ url: site.url, poolSize: 1 })
  try {
    const sides: Record<string, () => Promise<number>> = {}
    const sizes = [100, 1000, 10_000]
    for (const size of sizes) sides[`of ${size}`] = await editedDocument({ site, database, size })
    await alternate(2, sides)
    const times = Object.values(await alternate(rounds, sides))
    const [hundred = Number.NaN, thousand = Number.NaN, tenThousand = Number.NaN] = times
    const growth = tenThousand / hundred
    return [
      {
        name: `change batch of one edit at ${sizes.join(' / ')} blocks, p50`,
        value: `${times.map(ms).join(' / ')} (×${(thousand / hundred).toFixed(1)}, ×${growth.toFixed(1)} of the first)`,
        bar: 'under ×3 for 100 times the blocks',
        met: growth < 3,
      },
    ]
  } finally {
    await database.end()
  }
}

// Makes a document of `size` blocks. Each call changes one block and returns the milliseconds of its batch.
async function editedDocument(input: { site: Site; database: Database; size: number }): Promise<() => Promise<number>> {
  const { site, database, size } = input
  const lines = Array.from({ length: size }, (_, index) => `Paragraph ${index} with a few words.`)
  const id = await create(site, `${size} blocks`, lines.join('\n\n'))
  const { document } = (await done(site.client.get(`/documents/${id}/content`))).body.data
  const [job] = await site.ask('SELECT workspace_id, id AS document_id FROM documents WHERE id = $1', [id])
  await growChain(database, job)
  let turn = 0
  return async () => {
    turn += 1
    const block = document.content[(turn * 37) % size].attrs.id
    const content = [{ type: 'text', text: `turn ${turn}` }]
    await done(site.client.patch(`/documents/${id}/blocks/${block}`, { content }))
    const { batches, taken } = await growChain(database, job)
    if (batches !== 1) throw new Error(`${batches} batches of one edit`)
    return taken
  }
}

const projection = changesProjection({ CHANGES_RETENTION: 1000 })

async function growChain(database: Database, job: DocumentJob) {
  const started = performance.now()
  const source = (await projection.load(database, [job])).get(job.document_id)
  if (source === undefined) throw new Error('the document is gone')
  const result = projection.compute.run({ source, job })
  await inTransaction(database, async (tx) => {
    await lockSource(tx, job)
    await projectedSeqs(tx, [job], { table: 'change_chains', column: 'projected_seq', lock: true })
    await projection.write(tx, [{ job, source, result }])
    await markCurrent(tx, { projection: projection.name, jobs: [job] })
  })
  return { batches: result.batches.length, taken: performance.now() - started }
}

async function measureCandidates(site: Site, count: number): Promise<Figure[]> {
  // Longer files exceed the limit of a document.
  const files = markdownFiles(Number.POSITIVE_INFINITY).filter(({ text }) => text.length < 400_000)
  // The files come from all packages, since neighbouring files resemble each other.
  const step = Math.max(1, Math.floor(files.length / count))
  const chosen = files.filter((_, index) => index % step === 0).slice(0, count)
  const ids: string[] = []
  const lanes = { count: chosen.length, concurrency: 4 }
  await rate(lanes, async (index) => {
    const { title, text } = chosen[index] ?? { title: '', text: '' }
    ids[index] = await create(site, title, text)
  })
  const extract = () =>
    rate(lanes, (index) => done(site.client.post('/concept-candidates/extract', { document_id: ids[index] })))
  const first = await extract()
  const [{ found }] = await site.ask('SELECT count(*)::int AS found FROM concept_candidates')
  return [
    {
      name: `extraction of ${chosen.length} Markdown files over HTTP, ${found} candidates`,
      value: `${Math.round(first)} documents/s`,
    },
    { name: 'the same again, nothing new', value: `${Math.round(await extract())} documents/s` },
  ]
}

async function measureConcepts(site: Site): Promise<Figure[]> {
  await site.ask(
    `INSERT INTO concepts (workspace_id, id, knowledge_base_id, name, normalized_name)
    SELECT workspace_id, 'concept_' || n, id, 'concept ' || n, 'concept ' || n
    FROM knowledge_bases, generate_series(1, $2::int) AS n WHERE id = $1`,
    [site.knowledgeBase, relations],
  )
  const pairs: [string, string][] = []
  for (let index = 0; index < merges; index += 1) {
    pairs.push([await relatedConcept(site, 0), await relatedConcept(site, relations / 4)])
  }
  await site.ask('ANALYZE')
  const path = `/concepts/${pairs[0]?.[0]}/traverse`
  const page = await median(rounds, () => done(site.client.get(`${path}?limit=100`)))
  const whole = await median(5, () => readAll(site, path))
  const merge = await median(merges, (index) => {
    const [source, target] = pairs[index] ?? []
    const body = { target_concept_id: target, target_version: '*' }
    return done(site.client.post(`/concepts/${source}/merge`, body, { 'if-match': '*' }))
  })
  return [
    { name: `traverse of ${relations} relations, first 100, p50`, value: ms(page) },
    { name: `traverse of ${relations} relations, all pages of 1,000, p50`, value: ms(whole) },
    { name: `merge into a concept with ${relations}, half of them the same, p50`, value: ms(merge) },
  ]
}

// Half of the concept's relations are in the hierarchy, which a merge has to walk.
async function relatedConcept(site: Site, offset: number): Promise<string> {
  const members = { name: newId('concept'), knowledge_base_id: site.knowledgeBase }
  const { id } = (await done(site.client.post('/concepts', members))).body.data
  await site.ask(
    `INSERT INTO concept_relations (workspace_id, id, subject_concept_id, predicate, object_kind, object_id, origin)
    SELECT c.workspace_id, 'crel_' || n || e.suffix || c.id, e.subject, e.predicate, 'concept', e.object, 'manual'
    FROM concepts c, generate_series($2::int + 1, $2::int + $3::int) AS n, LATERAL (
      VALUES ('a', c.id, 'broader_than', 'concept_' || n), ('b', 'concept_' || n, 'related_to', c.id)
    ) AS e (suffix, subject, predicate, object) WHERE c.id = $1`,
    [id, offset, relations / 2],
  )
  return id
}

async function readAll(site: Site, path: string): Promise<void> {
  let read = 0
  for (let cursor = ''; ; ) {
    const { body } = await done(site.client.get(`${path}${cursor}`))
    read += body.data.length
    if (!body.page.has_more) break
    cursor = `?cursor=${body.page.next_cursor}`
  }
  if (read !== relations) throw new Error(`${read} relations instead of ${relations}`)
}

async function measureReferrers(site: Site): Promise<Figure[]> {
  const hub = await create(site, 'Hub', 'hub')
  for (const statement of referrersOfHub) await site.ask(statement, [hub, referrers])
  await site.ask('ANALYZE')
  const path = `/documents/${hub}/relations?direction=incoming`
  const page = (query: string, length: number) =>
    median(rounds, async () => {
      const { body } = await done(site.client.get(path + query))
      if (body.data.length !== length) throw new Error(`${body.data.length} relations instead of ${length}`)
    })
  const hundred = await page('&limit=100', 100)
  const whole = await page('', 1000)
  return [
    {
      name: `incoming of ${referrers} referrers over HTTP, first page of 100, p50`,
      value: ms(hundred),
      bar: 'under 20 ms',
      met: hundred < 20,
    },
    { name: 'the same without a limit, first page of 1,000, p50', value: ms(whole) },
  ]
}

// Documents with the body of the hub and a link to the hub, in the state in which the workers leave them.
const referrersOfHub = [
  `INSERT INTO document_directory (id, workspace_id)
  SELECT 'doc_' || n, workspace_id FROM documents, generate_series(1, $2::int) AS n WHERE id = $1`,
  `INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
    collapsed_block_ids, version, body_seq, character_count, node_count)
  SELECT workspace_id, 'doc_' || n, knowledge_base_id, 'Referrer ' || n, 'document', false, '{}', version, 1, 1, 1
  FROM documents, generate_series(1, $2::int) AS n WHERE id = $1`,
  `INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
  SELECT workspace_id, 'doc_' || n, 1, version, body
  FROM document_bodies, generate_series(1, $2::int) AS n WHERE document_id = $1`,
  `INSERT INTO relation_extractions (workspace_id, document_id, source_version, body_seq)
  SELECT workspace_id, 'doc_' || n, version, 1 FROM documents, generate_series(1, $2::int) AS n WHERE id = $1`,
  `INSERT INTO relations (workspace_id, id, origin, predicate, source_document_id, source_block_id, target_uri,
    target_document_id, anchor_text, created_at)
  SELECT workspace_id, 'rel_' || n, 'inline', 'refers_to', 'doc_' || n, 'block_' || n, 'svc://doc/' || id, id, 'hub',
    now() - random() * interval '2 hours'
  FROM documents, generate_series(1, $2::int) AS n WHERE id = $1`,
]

async function median(times: number, work: (index: number) => Promise<unknown>): Promise<number> {
  const taken: number[] = []
  for (let index = 0; index < times; index += 1) {
    const started = performance.now()
    await work(index)
    taken.push(performance.now() - started)
  }
  return percentile(taken, 50)
}

async function create(site: Site, title: string, text: string): Promise<string> {
  const content = { format: 'markdown', content: text }
  const members = { title, knowledge_base_id: site.knowledgeBase, content }
  return (await done(site.client.post('/documents', members))).body.data.id
}

async function done(request: Promise<Reply>): Promise<Reply> {
  const reply = await request
  if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text.slice(0, 500)}`)
  return reply
}
