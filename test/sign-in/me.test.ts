import { sql } from '../../shared/database/database.ts'
import { Client } from '../support/client.ts'
import { sharedService, startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'

t.test('a caller learns who they are, what their token may do and in which workspaces', async (t) => {
  const { signUp } = await startTestService(t)
  await signUp({ email: 'ada@example.test', workspace: 'First' })
  const ada = await signUp({ email: 'ada@example.test', workspace: 'Second', role: 'viewer', scopes: 'read_only' })

  const { status, body } = await ada.get('/me')
  t.equal(status, 200)
  t.match(body.data.user, { id: /^usr_/, email: 'ada@example.test', name: 'ada' })
  t.strictSame(body.data.scopes, ['documents:read', 'knowledge-bases:read', 'attachments:read', 'concepts:read'])
  t.equal(body.data.token_id, ada.token.split('_').slice(1, 3).join('_'))
  t.match(body.data.workspaces, [
    { id: /^ws_/, name: 'First', role: 'owner' },
    { id: /^ws_/, name: 'Second', role: 'viewer' },
  ])
  t.equal(body.data.expires_at, null)
  t.equal(body.data.collaboration_url, 'ws://localhost:3002/collab')
})

t.test('an editor is told the address of live editing, which demands TLS where the service does', async (t) => {
  const addresses = { 'wss://kb.test:3002/collab': {}, 'wss://live.kb.test/': { COLLAB_URL: 'wss://live.kb.test/' } }
  for (const [expected, settings] of Object.entries(addresses)) {
    const { signUp } = await sharedService({ PUBLIC_ORIGIN: 'https://kb.test:8443', ...settings })
    t.equal((await (await signUp()).get('/me')).body.data.collaboration_url, expected)
  }
})

t.test('nobody learns anything without a token', async (t) => {
  const { origin } = await sharedService()
  const stranger = new Client({ origin })
  t.match(await stranger.get('/me'), { status: 401, body: { error: { code: 'missing_token' } } })
  t.match(await stranger.get('/me/quota'), { status: 401, body: { error: { code: 'missing_token' } } })
})

t.test('the quota shows limits and usage of the default workspace alone', async (t) => {
  const { signUp } = await sharedService({ QUOTA_FOLDERS: '7', QUOTA_DOCUMENT_CHARACTERS: '9000' })
  const ada = await signUp({ workspace: 'First' })
  const other = await signUp({ workspace: 'Second' })
  await other.post('/knowledge-bases', { name: 'Not counted' })
  const { body: base } = await ada.post('/knowledge-bases', { name: 'Docs' })
  await ada.post('/folders', { name: 'One', knowledge_base_id: base.data.id })
  await ada.post('/folders', { name: 'Two', knowledge_base_id: base.data.id })

  const { status, body } = await ada.get('/me/quota')
  t.equal(status, 200)
  t.strictSame(body.data, {
    workspace_id: base.data.workspace_id,
    limits: {
      knowledge_bases: 100,
      documents: 10_000,
      folders: 7,
      attachment_bytes: 10_737_418_240,
      document_characters: 9000,
      translation_characters_per_day: 200_000,
    },
    usage: { knowledge_bases: 1, documents: 0, folders: 2, attachment_bytes: 0, translation_characters_today: 0 },
    translation_resets_at: body.data.translation_resets_at,
  })
  t.equal(new Date(body.data.translation_resets_at).toISOString().slice(10), 'T00:00:00.000Z')
  t.ok(body.data.translation_resets_at > Date.now())
})

t.test('a user without any workspace is told so', async (t) => {
  const { signUp, database } = await startTestService(t)
  const ada = await signUp()
  await database.query(sql.unsafe`DELETE FROM memberships`)
  t.match(await ada.get('/me/quota'), { status: 404, body: { error: { code: 'workspace_not_found' } } })
  t.match(await ada.post('/knowledge-bases', { name: 'Docs' }), { status: 404 })
  t.strictSame((await ada.get('/me')).body.data.workspaces, [])
  t.strictSame((await ada.get('/knowledge-bases')).body.data, [])
})
