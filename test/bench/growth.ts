import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { Route } from '../../api/http/route.ts'
import { routes } from '../../api/routes/routes.ts'
import { createFixture, pathOf, queryOf, withModel } from '../contract/fixtures.ts'
import type { Fixture } from '../contract/resources.ts'
import { seedDocuments } from '../support/many-documents.ts'
import { type Site, startSite, type Teardown } from '../support/site.ts'
import { type Figure, ms, percentile } from './harness.ts'

const few = 1000
const workspaces = 1000
const documentsOfWorkspace = 10
const callsOfRound = 10
const rounds = 3
const most = 1.5

/**
 * Calls every route that reads, exports apart, on three databases in turn: 1,000 documents in a workspace, `documents`
 * documents in a workspace, and 1,000 documents beside 1,000 other workspaces. Compares the median time of each route,
 * and the rows that PostgreSQL reads for it. The tree is compared per document, since it lists all documents.
 */
export async function measureGrowth(
  _: Site,
  { documents = 20_000, t }: { documents?: number; t: Teardown },
): Promise<Figure[]> {
  const base = await openSide(t, { documents: few })
  const many = await openSide(t, { documents })
  const shared = await openSide(t, { documents: few, others: workspaces })
  const sides = [base, many, shared]
  const measured: Measured[] = []
  for (const route of routes.filter(isMeasured)) {
    const times: number[][] = sides.map(() => [])
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, side] of sides.entries()) times[index]?.push(...(await timesOf(side, route)))
    }
    const rows = await Promise.all(sides.map((side) => rowsOf(side, route)))
    measured.push({ route, medians: times.map((of) => percentile(of, 50)), rows })
  }
  return [
    ...told(measured, { side: 1, name: `${documents} documents to ${few}`, growth: documents / few }),
    ...told(measured, { side: 2, name: `${workspaces} workspaces to one`, growth: 1 }),
  ]
}

// An export holds the whole of a knowledge base, and the bodies of the made documents are empty.
function isMeasured({ method, stream, operationId }: Route): boolean {
  return method === 'GET' && stream !== true && !operationId.startsWith('export')
}

/** A service and the resources that its routes are called with. */
type Side = { site: Site; fixture: Fixture }

/** The medians in milliseconds and the rows that were read for a call of a route, by side. */
type Measured = { route: Route; medians: number[]; rows: number[] }

async function openSide(t: Teardown, { documents, others = 0 }: { documents: number; others?: number }): Promise<Side> {
  const site = await startSite(t, { settings: withModel })
  const fixture = await createFixture(site.client)
  const client = new pg.Client(site.url)
  await client.connect()
  await seedDocuments(client, { documents, others: few / 2 })
  for (const statement of others === 0 ? [] : otherWorkspaces(others)) await client.query(statement)
  await client.end()
  await site.ask('VACUUM ANALYZE')
  await site.ask('CHECKPOINT')
  return { site, fixture }
}

// Other workspaces with documents that are copies of the first document, and found by the same words.
function otherWorkspaces(count: number): string[] {
  const each = `generate_series(1, ${count}) AS w`
  const all = `${each}, generate_series(1, ${documentsOfWorkspace}) AS n`
  return [
    `INSERT INTO workspaces (id, name) SELECT 'wsp_' || w, 'Other' FROM ${each}`,
    `INSERT INTO knowledge_base_directory (workspace_id) SELECT 'wsp_' || w FROM ${each}`,
    `INSERT INTO knowledge_bases (workspace_id, id, name)
      SELECT workspace_id, id, 'Base' FROM knowledge_base_directory WHERE workspace_id LIKE 'wsp\\_%'
      ON CONFLICT DO NOTHING`,
    `INSERT INTO document_directory (id, workspace_id) SELECT 'doc_w' || w || 'n' || n, 'wsp_' || w FROM ${all}`,
    `INSERT INTO documents (workspace_id, id, knowledge_base_id, title, document_type, heading_numbered,
        collapsed_block_ids, version, body_seq, character_count, node_count)
      SELECT k.workspace_id, d.id, k.id, 'Title', 'document', false, '{}', 'v', 1, 1, 1
      FROM document_directory d JOIN knowledge_bases k USING (workspace_id) WHERE d.id LIKE 'doc\\_w%'`,
    `INSERT INTO search_documents (workspace_id, document_id, source_version, body_seq, title, language, epoch, outline)
      SELECT workspace_id, id, 'v', 1, 'Title', 'en', 8, '{"ids": ["b"], "headings": []}' FROM documents
      WHERE id LIKE 'doc\\_w%'`,
    `INSERT INTO search_blocks (workspace_id, document_id, ord, block_id, top_block_id, type, length, hash, body, tsv)
      SELECT workspace_id, id, 1, 'b', 'b', 'paragraph', 2, '', 'rare common',
        array_to_tsvector(ARRAY['rare', 'common', '@w' || workspace_id, '@k' || knowledge_base_id])
      FROM documents WHERE id LIKE 'doc\\_w%'`,
  ]
}

async function timesOf({ site, fixture }: Side, route: Route): Promise<number[]> {
  const times: number[] = []
  while (times.length < callsOfRound) {
    const started = performance.now()
    await called(site, { route, fixture })
    times.push(performance.now() - started)
  }
  return times
}

async function called(site: Site, { route, fixture }: { route: Route; fixture: Fixture }): Promise<void> {
  const { status, text } = await site.client.get(pathOf(route, fixture) + queryOf(route, fixture))
  if (status >= 500) throw new Error(`${route.operationId} answered ${status}: ${text}`)
}

// The index entries and rows that the calls of a route made PostgreSQL read, for each call. A session reports what it
// has read a second after its last report at the earliest, together with its next statement: hence the pauses.
async function rowsOf({ site, fixture }: Side, route: Route): Promise<number> {
  const read = async () => {
    await sleep(1100)
    await called(site, { route, fixture })
    const [{ rows }] = await site.ask(`
      SELECT tup_returned + tup_fetched AS rows FROM pg_stat_database WHERE datname = current_database()`)
    return Number(rows)
  }
  const before = await read()
  for (let index = 0; index < callsOfRound; index += 1) await called(site, { route, fixture })
  return ((await read()) - before) / (callsOfRound + 1)
}

function told(
  measured: readonly Measured[],
  { side, name, growth }: { side: number; name: string; growth: number },
): Figure[] {
  const ratios = measured.map(({ route, medians, rows }) => {
    const share = route.operationId === 'getTree' ? growth : 1
    const [base = Number.NaN, other = Number.NaN] = [medians[0], medians[side]]
    return { route, base, other, ratio: other / base / share, rows, read: (rows[side] ?? 0) / (rows[0] ?? 0) / share }
  })
  const worst = ratios.filter(({ ratio }) => ratio > most)
  const steep = ratios.filter(({ read, rows }) => read > most && (rows[side] ?? 0) > 1000)
  const named = (list: readonly (typeof ratios)[number][]) =>
    list.map(
      ({ route, base, other, rows }) =>
        `${route.operationId} ${ms(base)} → ${ms(other)}, ${Math.round(rows[0] ?? 0)} → ${Math.round(rows[side] ?? 0)} rows`,
    )
  return [
    {
      name: `p50 of ${ratios.length} routes, ${name}: median / largest ratio`,
      value: `${percentile(
        ratios.map(({ ratio }) => ratio),
        50,
      ).toFixed(2)} / ${Math.max(...ratios.map(({ ratio }) => ratio)).toFixed(2)}`,
      bar: `at most ${most}`,
      met: worst.length === 0,
    },
    { name: `routes with a larger ratio, ${name}`, value: named(worst).join('; ') || 'none' },
    {
      name: `routes that read more than 1,000 rows and ${most} × as many, ${name}`,
      value: named(steep).join('; ') || 'none',
    },
  ]
}
