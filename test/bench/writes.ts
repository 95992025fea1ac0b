import { randomUUID } from 'node:crypto'
import pLimit from 'p-limit'
import pg from 'pg'
import { markdownFiles } from '../support/markdown-files.ts'
import { createDocument, type Site, writeDocument } from '../support/site.ts'
import { alternate, type Figure, rate } from './harness.ts'

const count = 150
const concurrency = 4

/**
 * Measures replacing bodies over HTTP, against the least work for PostgreSQL: one transaction for each write, with the
 * same rows, sent by plain `pg` with prepared statements. No worker runs.
 */
export async function measureWrites(site: Site): Promise<Figure[]> {
  const [file] = markdownFiles(200).filter(({ text }) => text.length > 3000 && text.length < 5000)
  const text = file?.text ?? ''
  const limit = pLimit(concurrency)
  const made = Array.from({ length: count }, () => limit(() => createDocument(site, text)))
  const documents = await Promise.all(made)
  let round = 0
  const ours = () => {
    round += 1
    const changed = `${text}\n\nround ${round}`
    return rate({ count, concurrency }, async (index) => {
      const document = documents[index] ?? { id: '', etag: '' }
      const reply = await writeDocument(site, { ...document, etag: '*' }, changed)
      if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
    })
  }
  const plain = new PlainWriter(site.url)
  const theirs = () => rate({ count, concurrency }, (index) => plain.write(documents[index]?.id ?? ''))
  try {
    await ours()
    await theirs()
    const result = await alternate(7, { ours, theirs })
    return [
      { name: `PUT of a body of ${text.length} characters over HTTP`, value: `${Math.round(result.ours)}/s` },
      { name: 'the same rows by plain pg', value: `${Math.round(result.theirs)}/s` },
      { name: 'ratio of the two', value: (result.ours / result.theirs).toFixed(2) },
    ]
  } finally {
    await plain.end()
  }
}

class PlainWriter {
  readonly #pool: pg.Pool

  constructor(url: string) {
    this.#pool = new pg.Pool({ connectionString: url, max: concurrency })
  }

  async write(id: string): Promise<void> {
    const client = await this.#pool.connect()
    try {
      await client.query('BEGIN')
      for (const [name, text] of Object.entries(statements)) {
        const values = name === 'audit' ? [randomUUID()] : [id]
        await client.query({ name, text, values })
      }
      await client.query('COMMIT')
    } finally {
      client.release()
    }
  }

  end(): Promise<void> {
    return this.#pool.end()
  }
}

const statements = {
  lock: 'SELECT * FROM documents JOIN document_bodies USING (workspace_id, version) WHERE id = $1 FOR UPDATE OF documents',
  body: `
    INSERT INTO document_bodies (workspace_id, document_id, body_seq, version, body)
    SELECT workspace_id, document_id, body_seq + 1, version, body FROM document_bodies
    WHERE document_id = $1 ORDER BY body_seq DESC LIMIT 1`,
  snapshot: `
    INSERT INTO document_versions (workspace_id, document_id, seq, body_seq, size)
    SELECT workspace_id, id, version_seq + 1, body_seq, 4000 FROM documents WHERE id = $1`,
  document: `
    UPDATE documents SET body_seq = body_seq + 1, version_seq = version_seq + 1, updated_at = now() WHERE id = $1`,
  event: `
    INSERT INTO events (workspace_id, name, document_id, document)
    SELECT workspace_id, 'document.content.updated', id, jsonb_build_object('id', id, 'title', title)
    FROM documents WHERE id = $1`,
  stale: `
    INSERT INTO stale_projections (workspace_id, projection, document_id, event_row_no)
    SELECT workspace_id, 'search', id, body_seq FROM documents WHERE id = $1
    ON CONFLICT (workspace_id, projection, document_id) DO UPDATE SET event_row_no = excluded.event_row_no`,
  job: `INSERT INTO pgboss.job (name, data, singleton_key) VALUES ('search.index', '{}', $1)`,
  audit: `
    INSERT INTO audit_log (request_id, token_id, user_id, method, path, is_agent)
    VALUES ($1, 'tok', 'usr', 'PUT', '/api/v1/documents', false)`,
}
