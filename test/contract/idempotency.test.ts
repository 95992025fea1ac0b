import { sql } from 'slonik'
import { grantRole } from '../../shared/auth/queries.ts'
import { inTransaction } from '../../shared/database/database.ts'
import type { Client } from '../support/client.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

const key = (value: string) => ({ 'idempotency-key': value })

const shared = await startTestService(t)

t.test('a repeated request gets the first answer again and happens once', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  const first = await client.post('/knowledge-bases', { name: 'Docs' }, key('k1'))
  t.equal(first.status, 201)
  t.notOk(first.headers.get('idempotent-replayed'))
  const again = await client.post('/knowledge-bases', { name: 'Docs' }, key('k1'))
  t.equal(again.status, 201)
  t.equal(again.headers.get('idempotent-replayed'), 'true')
  t.same(again.body.data, first.body.data)
  t.equal(again.headers.get('location'), first.headers.get('location'))
  t.not(again.body.request_id, first.body.request_id)
  t.equal(await countOf(client), 1)
})

t.test('the order of members and parameters makes no other request', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  await client.call('POST', '/knowledge-bases?b=2&a=1', {
    raw: '{"name":"x", "more": {"a":1,"b":2}}',
    headers: key('k'),
  })
  const again = await client.call('POST', '/knowledge-bases?a=1&b=2', {
    raw: '{"more":{"b":2,"a":1.0},"name":"x"}',
    headers: key('k'),
  })
  t.equal(again.headers.get('idempotent-replayed'), 'true')
})

t.test('a key that was used for something else is refused', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  await client.post('/knowledge-bases', { name: 'one' }, key('k'))
  const other = await client.post('/knowledge-bases', { name: 'two' }, key('k'))
  t.match(other, { status: 409, body: { error: { type: 'request_error', code: 'idempotency_key_reused' } } })
  t.equal((await client.post('/knowledge-bases?x=1', { name: 'one' }, key('k'))).status, 409, 'the query counts')
  t.equal(await countOf(client), 1)
})

t.test('a key belongs to one token and one path', async (t) => {
  const { signUp } = shared
  const [client, other] = [await signUp(), await signUp()]
  const base = await client.post('/knowledge-bases', { name: 'x' }, key('k'))
  t.equal((await other.post('/knowledge-bases', { name: 'y' }, key('k'))).status, 201)
  const folder = { name: 'x', knowledge_base_id: base.body.data.id }
  t.equal((await client.post('/folders', folder, key('k'))).status, 201)
})

t.test('a refused request leaves its key free', async (t) => {
  const { signUp } = await startTestService(t, { QUOTA_KNOWLEDGE_BASES: '1' })
  const client = await signUp()
  const first = await client.post('/knowledge-bases', { name: 'x' })
  t.equal((await client.post('/knowledge-bases', { name: 'y' }, key('k'))).status, 409)
  await client.delete(`/knowledge-bases/${first.body.data.id}`, { confirm_id: String(first.body.data.id) })
  const retried = await client.post('/knowledge-bases', { name: 'y' }, key('k'))
  t.equal(retried.status, 201)
  t.notOk(retried.headers.get('idempotent-replayed'))
})

t.test('of duplicates that arrive together one takes effect, and the rest say so', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  for (let round = 0; round < 5; round += 1) {
    const calls = Array.from({ length: 12 }, () => client.post('/knowledge-bases', { name: 'x' }, key(`k${round}`)))
    const replies = await Promise.all(calls)
    const fresh = replies.filter(({ status, headers }) => status === 201 && headers.get('idempotent-replayed') === null)
    t.equal(fresh.length, 1, 'one creates')
    for (const reply of replies) {
      if (reply.status === 201) t.same(reply.body.data, fresh[0]?.body.data)
      else {
        t.match(reply, { status: 409, body: { error: { code: 'idempotency_in_progress' } } })
        t.equal(reply.headers.get('retry-after'), '1')
      }
    }
    t.equal(await countOf(client), round + 1)
  }
})

t.test('a duplicate of a request that is still running is told to wait, not made to', async (t) => {
  const { database, signUp } = shared
  const client = await signUp()
  await inTransaction(database, async (tx) => {
    const scope = JSON.stringify([client.token_id, 'POST', '/api/v1/knowledge-bases', 'k'])
    await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(hashtextextended(${scope}, 0))`)
    const reply = await client.post('/knowledge-bases', { name: 'x' }, key('k'))
    t.match(reply, { status: 409, body: { error: { code: 'idempotency_in_progress' } } })
  })
  t.equal((await client.post('/knowledge-bases', { name: 'x' }, key('k'))).status, 201)
})

t.test('a key is 1 to 128 visible ASCII characters, taken literally', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  for (const wrong of ['', 'x'.repeat(129), 'a b', 'é']) {
    const reply = await client.post('/knowledge-bases', { name: 'x' }, key(wrong))
    t.match(reply, { status: 400, body: { error: { code: 'invalid_idempotency_key' } } }, wrong)
  }
  t.equal((await client.post('/knowledge-bases', { name: 'x' }, key('x'.repeat(128)))).status, 201)
  await client.post('/knowledge-bases', { name: 'quoted' }, key('"k"'))
  t.equal((await client.post('/knowledge-bases', { name: 'bare' }, key('k'))).status, 201, 'quotes are part of it')
})

t.test('methods that are idempotent anyway ignore the key', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  const { id } = (await client.post('/knowledge-bases', { name: 'x' })).body.data
  await client.patch(`/knowledge-bases/${id}`, { name: 'y' }, key('k'))
  const other = await client.patch(`/knowledge-bases/${id}`, { name: 'z' }, key('k'))
  t.equal(other.body.data.name, 'z')
  t.equal((await client.get('/me', key('é'))).status, 200)
})

t.test('a key is forgotten when its time is over', async (t) => {
  const { database, signUp } = await startTestService(t, { IDEMPOTENCY_TTL_HOURS: '2' })
  const client = await signUp()
  await client.post('/knowledge-bases', { name: 'x' }, key('k'))
  await database.query(sql.unsafe`UPDATE idempotency_keys SET completed_at = now() - interval '119 minutes'`)
  const replayed = await client.post('/knowledge-bases', { name: 'x' }, key('k'))
  t.equal(replayed.headers.get('idempotent-replayed'), 'true')
  await database.query(sql.unsafe`UPDATE idempotency_keys SET completed_at = now() - interval '121 minutes'`)
  const fresh = await client.post('/knowledge-bases', { name: 'other' }, key('k'))
  t.equal(fresh.status, 201)
  t.equal(fresh.body.data.name, 'other')
})

t.test('who has lost the workspace does not get its answers again', async (t) => {
  const { database, signUp } = shared
  const client = await signUp({ workspace: 'left' })
  await client.post('/knowledge-bases', { name: 'x' }, key('k'))
  const other = await signUp()
  await inTransaction(database, async (tx) => {
    await grantRole(tx, { workspaceId: other.workspace_id, userId: client.user_id, role: 'editor' })
    await tx.query(sql.unsafe`DELETE FROM memberships WHERE workspace_id = ${client.workspace_id}`)
  })
  const reply = await client.post('/knowledge-bases', { name: 'x' }, key('k'))
  t.match(reply, { status: 404, body: { error: { code: 'workspace_not_found' } } })
})

t.test('the answer is replayed even when its resource is gone', async (t) => {
  const { signUp } = shared
  const client = await signUp()
  const first = await client.post('/knowledge-bases', { name: 'x' }, key('k'))
  const { id } = first.body.data
  await client.delete(`/knowledge-bases/${id}`, { confirm_id: String(id) })
  const again = await client.post('/knowledge-bases', { name: 'x' }, key('k'))
  t.same(again.body.data, first.body.data)
  t.equal((await client.get(`/knowledge-bases/${id}`)).status, 404)
})

async function countOf(client: Client): Promise<number> {
  return (await client.get('/knowledge-bases?limit=100')).body.data.length
}
