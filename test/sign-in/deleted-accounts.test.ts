import pg from 'pg'
import { sql } from '../../shared/database/database.ts'
import { p } from '../document/build.ts'
import { make, put } from '../support/documents.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'

const service = await startTestService(t)
const { database } = service

t.test('the versions of a document outlive the account of their author, and no longer name it', async (t) => {
  const ada = await service.signUp({ workspace: 'team' })
  const bob = await service.signUp({ workspace: 'team' })
  const { id } = await make(ada, [p('one')])
  await put(ada, id, [p('two')])
  await put(bob, id, [p('three')])
  const authors = async () => {
    const { body } = await bob.get(`/documents/${id}/versions`)
    return body.data.map((version: { created_by: string | null }) => version.created_by)
  }
  t.strictSame(await authors(), [bob.user_id, ada.user_id])
  await database.query(sql.unsafe`DELETE FROM users WHERE id = ${ada.user_id}`)
  t.strictSame(await authors(), [bob.user_id, null])
})

t.test('a workspace that goes takes its events along, also those that are being written at the moment', async (t) => {
  const ada = await service.signUp()
  const bob = await service.signUp()
  const { id } = await make(ada, [p('one')])
  await make(bob, [p('of another workspace')])
  const [writer, remover] = [new pg.Client(service.url), new pg.Client(service.url)]
  for (const client of [writer, remover]) {
    await client.connect()
    t.teardown(() => client.end())
  }
  await writer.query('BEGIN')
  await writer.query('SELECT FROM documents WHERE id = $1 FOR UPDATE', [id])
  const removed = remover.query('DELETE FROM workspaces WHERE id = $1', [ada.workspace_id])
  await until(async () => {
    const waiting = await database.any(sql.unsafe`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
    return waiting.length > 0
  })
  const values = [ada.workspace_id, id]
  await writer.query(
    `INSERT INTO events (workspace_id, name, document_id, document) VALUES ($1, 'document.content.updated', $2, '{}')`,
    values,
  )
  await writer.query('COMMIT')
  await removed
  const { rows } = await writer.query('SELECT DISTINCT workspace_id FROM events WHERE workspace_id = ANY($1)', [
    [ada.workspace_id, bob.workspace_id],
  ])
  t.strictSame(rows, [{ workspace_id: bob.workspace_id }])
})
