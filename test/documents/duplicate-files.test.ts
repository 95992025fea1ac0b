import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from '../../shared/database/database.ts'
import { node } from '../document/build.ts'
import { storedFiles, uploaded } from '../support/attachments.ts'
import type { Client } from '../support/client.ts'
import { make, put, refused } from '../support/documents.ts'
import { startS3 } from '../support/s3-server.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'

const duplicate = (client: Client, id: string) => client.post(`/documents/${id}/duplicate`)

t.test('when there is no room for one more document, not one file is copied', async (t) => {
  const own = await startTestService(t, { QUOTA_DOCUMENTS: '1' })
  const ada = await own.signUp()
  const { id, files } = await withFiles(ada, 1)
  await damage(own, files[0])
  refused(t, await duplicate(ada, id), { status: 409, code: 'quota_exceeded' })
})

t.test('a store that fails at the second file refuses the duplicate, and the first copy is removed', async (t) => {
  const own = await startTestService(t)
  const ada = await own.signUp()
  const { id, files } = await withFiles(ada, 3)
  const [first, second, third] = [...files].sort()
  await damage(own, second)
  refused(t, await duplicate(ada, id), { status: 503, code: 'service_unavailable' })
  t.strictSame((await storedFiles(own)).sort(), [first, third])
  t.strictSame(await own.database.any(sql.unsafe`SELECT FROM loose_files`), [])
  t.equal((await ada.get('/documents')).body.data.length, 1)
})

t.test('of two duplicates at once for one of which there is room, one is made and no file is left over', async (t) => {
  const own = await startTestService(t, { QUOTA_DOCUMENTS: '2' })
  const ada = await own.signUp()
  const { id } = await withFiles(ada, 2)
  const replies = await Promise.all([duplicate(ada, id), duplicate(ada, id)])
  t.strictSame(replies.map(({ status }) => status).sort(), [201, 409])
  t.equal((await storedFiles(own)).length, 4)
  t.strictSame(await own.database.any(sql.unsafe`SELECT FROM loose_files`), [])
})

t.test('two files are copied at a time, and a client that leaves has no further file copied', async (t) => {
  const held: (() => void)[] = []
  let copies = 0
  const s3 = await startS3(t, {
    beforeCopy: () => {
      copies += 1
      return new Promise((resolve) => held.push(resolve))
    },
  })
  const own = await startTestService(t, s3.env)
  const ada = await own.signUp()
  const ids = [(await withFiles(ada, 1)).id, (await withFiles(ada, 1)).id, (await withFiles(ada, 1)).id]
  const replies = ids.map((id) => duplicate(ada, id))
  await until(async () => held.length === 2)
  for (const id of ids) t.equal((await ada.get(`/documents/${id}`)).status, 200)
  t.equal(copies, 2, 'the third waits for its turn')
  held.shift()?.()
  await until(async () => copies === 3)
  for (const go of held.splice(0)) go()
  for (const reply of replies) t.equal((await reply).status, 201)

  const { id } = await withFiles(ada, 3)
  const leaving = new AbortController()
  const left = fetch(`${ada.origin}/api/v1/documents/${id}/duplicate`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.bearer}` },
    signal: leaving.signal,
  })
  await until(async () => held.length === 1)
  leaving.abort()
  await t.rejects(left)
  // By then the service has noticed that the connection is closed.
  for (const other of ids) t.equal((await ada.get(`/documents/${other}`)).status, 200)
  held.shift()?.()
  await until(async () => (await own.database.any(sql.unsafe`SELECT FROM loose_files`)).length === 0)
  t.equal(copies, 4)
  t.equal((await ada.get('/documents')).body.data.length, 7, 'no duplicate was made')
})

/** Makes a document that shows `count` files. */
async function withFiles(client: Client, count: number): Promise<{ id: string; files: string[] }> {
  const { id } = await make(client, [])
  const files: string[] = []
  while (files.length < count) files.push(await uploaded(client, { documentId: id }))
  const blocks = files.map((attachmentId) => node('image', { attachmentId }))
  const { status, text } = await put(client, id, blocks)
  if (status !== 200) throw new Error(text)
  return { id, files }
}

/** Puts a directory in place of a file of the local store, so that the file cannot be copied. */
async function damage({ config }: TestService, id = ''): Promise<void> {
  const path = join(config.DATA_DIR, 'attachments', id.slice(-2), id)
  await rm(path)
  await mkdir(path)
}
