import { Database } from '@hocuspocus/extension-database'
import { Server } from '@hocuspocus/server'
import pg from 'pg'

/*
 * The baseline of `collab`: Hocuspocus with its own extension for databases, which keeps the Y state of a document in a
 * row of the table `bare_documents`. It serves on the port of COLLAB_PORT, without rights, history, events or jobs.
 */

const pool = new pg.Pool({ connectionString: process.env['DATABASE_URL'] })

const database = new Database({
  async fetch({ documentName }) {
    const { rows } = await pool.query('SELECT state FROM bare_documents WHERE name = $1', [documentName])
    return rows[0]?.state ?? null
  },
  async store({ documentName, state }) {
    await pool.query('UPDATE bare_documents SET state = $2 WHERE name = $1', [documentName, state])
  },
})

const server = new Server({
  ...{ address: '127.0.0.1', port: Number(process.env['COLLAB_PORT']), quiet: true },
  debounce: Number(process.env['COLLAB_DEBOUNCE_MS']),
  maxDebounce: Number(process.env['COLLAB_MAX_DEBOUNCE_MS']),
  extensions: [database],
  // The message that a collaboration process sends after each commit.
  afterStoreDocument: async ({ document }) => document.broadcastStateless('{"type":"saved","complete":true}'),
})
await server.listen()
