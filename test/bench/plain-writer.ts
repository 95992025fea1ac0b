import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { queues } from '../../shared/jobs/queues.ts'
import type { Site } from '../support/site.ts'
import { rate } from './harness.ts'

const projected = [queues.searchIndex, queues.changesDiff, queues.relationsExtract]

/**
 * The least work for a write: one transaction with the rows that the API writes, by plain `pg` with prepared
 * statements, and three jobs by bare pg-boss in it. No rights are checked, no body is read or compared.
 */
export class PlainWriter {
  readonly #pool: pg.Pool
  readonly #boss: PgBoss
  readonly #concurrency: number
  readonly #body: () => string
  readonly #documents: string[] = []
  readonly #workspace: string

  private constructor(options: {
    pool: pg.Pool
    boss: PgBoss
    workspace: string
    concurrency: number
    body: () => string
  }) {
    this.#pool = options.pool
    this.#boss = options.boss
    this.#workspace = options.workspace
    this.#concurrency = options.concurrency
    this.#body = options.body
  }

  /** Opens a writer on the database of a site, in the workspace of its knowledge base. */
  static async open(
    { url, ask, knowledgeBase }: Site,
    { paragraphs, concurrency }: { paragraphs: () => object[]; concurrency: number },
  ): Promise<PlainWriter> {
    const pool = new pg.Pool({ connectionString: url, max: concurrency })
    const boss = new PgBoss({ connectionString: url, max: 2, migrate: false, supervise: false, schedule: false })
    boss.on('error', () => {})
    await boss.start()
    await boss.getQueues()
    const [{ workspace_id: workspace }] = await ask('SELECT workspace_id FROM knowledge_bases WHERE id = $1', [
      knowledgeBase,
    ])
    const body = () => JSON.stringify({ type: 'doc', content: paragraphs() })
    return new PlainWriter({ pool, boss, workspace, concurrency, body })
  }

  /** Writes `count` documents. Returns the writes per second. The jobs of earlier rounds are deleted. */
  async round(kind: 'create' | 'put', count: number): Promise<number> {
    await this.#pool.query(`DELETE FROM pgboss.job WHERE state = 'created'`)
    while (kind === 'put' && this.#documents.length < count) await this.#create()
    return rate({ count, concurrency: this.#concurrency }, (index) =>
      kind === 'create' ? this.#create() : this.#put(this.#documents[index] ?? ''),
    )
  }

  async end(): Promise<void> {
    await this.#boss.stop({ graceful: false })
    await this.#pool.end()
  }

  async #create(): Promise<void> {
    const id = `doc_plain_${randomUUID()}`
    await this.#write(id, ['directory', 'document', 'first'])
    this.#documents.push(id)
  }

  #put(id: string): Promise<void> {
    return this.#write(id, ['lock', 'body', 'snapshot', 'advance'])
  }

  async #write(id: string, rows: readonly (keyof typeof statements)[]): Promise<void> {
    const client = await this.#pool.connect()
    const run = (name: keyof typeof statements, values: unknown[]) =>
      client.query({ name, text: statements[name], values: [this.#workspace, ...values] })
    const db = { executeSql: (text: string, values: unknown[] = []) => client.query(text, values) }
    try {
      await client.query('BEGIN')
      for (const name of rows) await run(name, name === 'first' || name === 'body' ? [id, this.#body()] : [id])
      await run('event', [id])
      await run('stale', [id])
      await run('audit', [randomUUID()])
      for (const { name } of projected) {
        await this.#boss.upsert(name, { workspace_id: this.#workspace, document_id: id }, { db, singletonKey: id })
      }
      await client.query('COMMIT')
    } finally {
      client.release()
    }
  }
}

const statements = {
  directory: 'INSERT INTO document_directory (id, workspace_id) SELECT $2, $1',
  document: `
    INSERT INTO documents SELECT (jsonb_populate_record(d, jsonb_build_object('id', $2::text, 'body_seq', 1))).*
    FROM documents AS d WHERE workspace_id = $1 LIMIT 1`,
  first: `
    WITH manifest AS (
      INSERT INTO document_manifests (workspace_id, document_id, body_seq, version, step) VALUES ($1, $2, 1, 'v', NULL))
    INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body) VALUES ($1, $2, 1, 'v', $3)`,
  lock: `
    SELECT * FROM documents d JOIN document_bodies b
      ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
    WHERE d.workspace_id = $1 AND d.id = $2 FOR UPDATE OF d`,
  body: `
    WITH d AS (SELECT body_seq + 1 AS seq FROM documents WHERE workspace_id = $1 AND id = $2), manifest AS (
      INSERT INTO document_manifests (workspace_id, document_id, body_seq, version, step)
      SELECT $1, $2, seq, 'v', '[]' FROM d)
    INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body) SELECT $1, $2, seq, 'v', $3 FROM d`,
  snapshot: `
    INSERT INTO document_versions (workspace_id, document_id, seq, body_seq, size)
    SELECT workspace_id, id, version_seq + 1, body_seq, 4000 FROM documents WHERE workspace_id = $1 AND id = $2`,
  advance: `
    UPDATE documents SET body_seq = body_seq + 1, version_seq = version_seq + 1, updated_at = now()
    WHERE workspace_id = $1 AND id = $2`,
  event: `
    INSERT INTO events (workspace_id, name, document_id, document)
    SELECT workspace_id, 'document.content.updated', id, jsonb_build_object('id', id, 'title', title)
    FROM documents WHERE workspace_id = $1 AND id = $2`,
  stale: `
    INSERT INTO stale_projections (workspace_id, projection, document_id, event_row_no)
    SELECT $1, projection, $2, 1 FROM unnest('{search,changes,relations}'::text[]) AS projection
    ON CONFLICT (workspace_id, projection, document_id) DO UPDATE SET event_row_no = excluded.event_row_no`,
  audit: `
    INSERT INTO audit_log (request_id, token_id, user_id, method, path, is_agent)
    SELECT $2, 'tok', 'usr', 'PUT', '/api/v1/documents', false WHERE $1 <> ''`,
}
