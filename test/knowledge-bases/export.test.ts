import { execFile, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Type from 'typebox'
import { sql } from '../../shared/database/database.ts'
import { row } from '../../shared/database/row.ts'
import { p } from '../document/build.ts'
import { samples, uploaded } from '../support/attachments.ts'
import type { Client } from '../support/client.ts'
import { make } from '../support/documents.ts'
import { onlyLong } from '../support/run-options.ts'
import { startTestService } from '../support/service.ts'
import { until } from '../support/site.ts'
import { t } from '../support/tap.ts'
import { exported, manifestOf, requestExport } from '../support/zips.ts'

const service = await startTestService(t)
const { signUp, database } = service

t.test('a knowledge base leaves as one zip with everything that the API says of it', async (t) => {
  const ada = await signUp()
  const base = await created(ada, '/knowledge-bases', { name: 'Docs' })
  const guides = await created(ada, '/folders', { name: 'Guides', knowledge_base_id: base.id })
  const deep = await created(ada, '/folders', { name: 'Deep', parent_id: guides.id })
  const markdown = { format: 'markdown', content: '# One\n\nTwo *three*\n\n- four\n' }
  const place = { knowledge_base_id: base.id, folder_id: deep.id }
  const first = await created(ada, '/documents', { title: 'First', content: markdown, ...place })
  const second = await created(ada, '/documents', { title: 'Second', knowledge_base_id: base.id })
  const other = await created(ada, '/knowledge-bases', { name: 'Other' })
  await created(ada, '/documents', { title: 'Elsewhere', knowledge_base_id: other.id })
  const pictureId = await uploaded(ada, { documentId: first.id, bytes: samples.png, filename: 'a.png' })

  const { headers, files, manifest } = await exported(ada, base.id)
  t.equal(headers.get('content-type'), 'application/zip')
  t.equal(headers.get('content-disposition'), `attachment; filename="knowledge-base-${base.id}.zip"`)
  t.match(manifest, { format: 'svc-export', format_version: 1, exported_at: Number })
  t.strictSame(manifest['knowledge_base'], (await ada.get(`/knowledge-bases/${base.id}`)).body.data)
  const records = (path: string) => ada.get(path).then(({ body }) => body.data)
  t.strictSame(manifest['folders'], [await records(`/folders/${guides.id}`), await records(`/folders/${deep.id}`)])
  t.strictSame(manifest['documents'], [
    {
      ...(await records(`/documents/${first.id}`)),
      json_path: `documents/${first.id}.json`,
      markdown_path: `markdown/Guides/Deep/First--${first.id}.md`,
    },
    {
      ...(await records(`/documents/${second.id}`)),
      json_path: `documents/${second.id}.json`,
      markdown_path: `markdown/Second--${second.id}.md`,
    },
  ])
  const file = `attachments/${pictureId}/a.png`
  t.strictSame(manifest['attachments'], [{ ...(await records(`/attachments/${pictureId}/metadata`)), path: file }])
  t.ok(files.get(file)?.equals(samples.png))
  for (const { id, json_path, markdown_path } of manifest['documents']) {
    const read = (query: string) => records(`/documents/${id}/content?${query}`)
    t.strictSame(JSON.parse(String(files.get(json_path))), (await read('format=tiptap-json')).document)
    t.equal(String(files.get(markdown_path)), (await read('format=markdown&annotate=anchors')).content)
  }
  t.equal(files.size, 2 * 2 + 1 + 1, 'and nothing else')

  const head = await ada.call('HEAD', `/knowledge-bases/${base.id}/export`)
  t.match(head, { status: 200, text: '' })
  t.equal(head.headers.get('content-disposition'), headers.get('content-disposition'))
})

t.test('the Markdown of an export leads to its other files, wherever it is unpacked', async (t) => {
  const ada = await signUp()
  const base = await created(ada, '/knowledge-bases', { name: 'Docs' })
  const [outer, inner] = [await created(ada, '/folders', { name: 'Out (1)', knowledge_base_id: base.id }), 'In #2']
  const deep = await created(ada, '/folders', { name: inner, parent_id: outer.id })
  const target = await make(ada, [p('text')], { title: 'Über [b] & c', knowledge_base_id: base.id, folder_id: deep.id })
  const elsewhere = await created(ada, '/knowledge-bases', { name: 'Other' })
  const other = await make(ada, [p('text')], { title: 'Other', knowledge_base_id: elsewhere.id })
  const source = await make(ada, [], { title: 'Source', knowledge_base_id: base.id, folder_id: outer.id })
  const own = { documentId: source.id, bytes: samples.png }
  const [picture, file] = [await uploaded(ada, own), await uploaded(ada, { ...own, filename: 'my (2).png' })]
  const foreign = await uploaded(ada, { documentId: other.id, bytes: samples.png })
  const [block] = target.blocks
  const at = (id: string) => `/api/v1/attachments/${id}`
  const document = `In%20%232/Über%20%5Bb%5D%20%26%20c--${target.id}.md`
  const cases: [string, string][] = [
    [`[a](svc://doc/${target.id})`, `[a](${document})`],
    [`[a](svc://doc/${target.id}#block=${block?.attrs.id} "t")`, `[a](${document}#block=${block?.attrs.id} "t")`],
    [`[me](svc://doc/${source.id})`, `[me](Source--${source.id}.md)`],
    [`![p](${at(picture)})`, `![p](../../attachments/${picture}/a.png)`],
    [`[the file](${at(file)})`, `[the file](../../attachments/${file}/my%20%282%29.png)`],
    [
      `[![p](${at(picture)})](${at(file)})`,
      `[![p](../../attachments/${picture}/a.png)](../../attachments/${file}/my%20%282%29.png)`,
    ],
    [
      `x <img src="${at(picture)}" width="5"> <a href='svc://doc/${target.id}'>y</a>`,
      `x <img src="../../attachments/${picture}/a.png" width="5"> <a href="${document}">y</a>`,
    ],
    [`![p](${at(foreign)})`, `![p](${at(foreign)})`],
    [`[a](svc://doc/${other.id}), [b](svc://doc/doc_none), [c](https://example.com/x)`, ''],
    [`text ${at(picture)} \`svc://doc/${target.id}\``, ''],
  ]
  const content = { format: 'markdown', content: cases.map(([written]) => written).join('\n\n') }
  const { status } = await ada.put(`/documents/${source.id}/content`, content, { 'if-match': '*' })
  t.equal(status, 200)
  const { files, manifest } = await exported(ada, base.id)
  const [{ markdown_path }] = manifest['documents'].filter(({ id }: { id: string }) => id === source.id)
  const markdown = String(files.get(markdown_path)).replaceAll(/<!-- block=.*-->\n/g, '')
  t.strictSame(
    markdown.trimEnd().split('\n\n'),
    cases.map(([written, wanted]) => wanted || written),
  )
  const addresses = markdown.match(/(?<=\]\(|=")[^)"\s]*(--doc_|\/att_)[^)#"\s]*/g) ?? []
  const inside = addresses.filter((one) => !one.startsWith('/api'))
  const paths = inside.map((address) => join(markdown_path, '..', decodeURIComponent(address)))
  t.equal(paths.length, 9)
  t.strictSame(
    paths.filter((path) => !files.has(path)),
    [],
    'each address is that of an entry',
  )
})

const hasPython = spawnSync('python3', ['--version']).status === 0

t.test('other programs can open what is exported', { skip: !hasPython }, async (t) => {
  const ada = await signUp()
  const base = await created(ada, '/knowledge-bases', { name: 'Docs' })
  await created(ada, '/documents', { title: 'Über 日本語 🐘', knowledge_base_id: base.id })
  const { bytes } = await exported(ada, base.id)
  const path = join(t.testdir(), 'export.zip')
  await writeFile(path, bytes)
  const script = 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.testzip()); print(len(z.namelist()))'
  const { stdout } = await promisify(execFile)('python3', ['-c', script, path])
  t.equal(stdout, 'None\n3\n')
})

t.test('files leave only with a token that may read them, and a lost one costs no export', async (t) => {
  const ada = await signUp({ workspace: 'files' })
  const reader = await signUp({ workspace: 'files', scopes: ['knowledge-bases:read', 'documents:read'] })
  const base = await created(ada, '/knowledge-bases', { name: 'Docs' })
  const document = await make(ada, [], { knowledge_base_id: base.id })
  const keptId = await uploaded(ada, { documentId: document.id, bytes: samples.png, filename: 'con.png' })
  const lostId = await uploaded(ada, { documentId: document.id, bytes: samples.png, filename: 'lost.png' })

  const without = await exported(reader, base.id)
  t.strictSame(pathsOf(without.manifest['attachments']), [null, null])
  t.notOk([...without.files.keys()].some((name) => name.startsWith('attachments/')))

  await service.service.files.remove([lostId])
  const { files, manifest } = await exported(ada, base.id)
  t.strictSame(pathsOf(manifest['attachments']), [`attachments/${keptId}/_con.png`, null])
  t.ok(files.has(`attachments/${keptId}/_con.png`), 'under a name that Windows takes')
})

t.test('titles and folders of any name make paths that every file system takes', async (t) => {
  const ada = await signUp()
  const base = await created(ada, '/knowledge-bases', { name: 'Docs' })
  const names = ['..', '.', 'a/../../b', 'C:\\x', 'con', 'NUL.txt', 'end. .', 'a', 'A', 'é', 'e\u0301', 'x'.repeat(200)]
  const folders: { id: number }[] = []
  for (const name of names) folders.push(await created(ada, '/folders', { name, knowledge_base_id: base.id }))
  for (const [index, title] of [...names, '日'.repeat(90), 'gpj\u202Eexe'].entries()) {
    const folder = folders[index]
    await created(ada, '/documents', { title, knowledge_base_id: base.id, ...(folder && { folder_id: folder.id }) })
  }
  for (const id of ['doc_same', 'doc_SAME'])
    await created(ada, '/documents', { id, title: 'x', knowledge_base_id: base.id })

  const { files, manifest } = await exported(ada, base.id)
  const paths = [...files.keys()]
  t.equal(new Set(paths.map((path) => path.normalize('NFC').toLowerCase())).size, paths.length, 'no two fall together')
  for (const path of paths) t.ok(isPortable(path), path)
  for (const { json_path, markdown_path } of manifest['documents']) {
    t.ok(files.has(json_path) && files.has(markdown_path))
  }
  t.strictSame(
    manifest['documents'].slice(-2).map(({ json_path }: { json_path: string }) => json_path),
    ['documents/doc_SAME.json', 'documents/doc_same~2.json'],
  )
})

t.test('a large knowledge base', onlyLong, async (t) => {
  const ada = await signUp()
  const { id, documents } = await large(ada)

  t.test('a reader that leaves gives its connection back', async (t) => {
    const leaving = new AbortController()
    const response = await requestExport(ada, id, { signal: leaving.signal })
    await response.body?.getReader().read()
    await until(async () => (await exportConnections()).length === 1)
    leaving.abort()
    await until(async () => (await exportConnections()).length === 0)
    t.pass('nobody waits for the next one')
  })

  t.test('an export that fails half-way breaks off, so that nobody takes it for whole', async (t) => {
    const response = await requestExport(ada, id)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await until(async () => (await exportConnections()).length === 1)
    const [pid] = await exportConnections()
    await database.query(sql.unsafe`SELECT pg_terminate_backend(${Number(pid)})`)
    const rest = async () => {
      while (!(await reader.read()).done);
    }
    await t.rejects(rest())
    t.equal((await requestExport(ada, id, { method: 'HEAD' })).status, 200, 'and the next one is served')
  })

  t.test('who writes meanwhile neither waits nor shows in what is being read', async (t) => {
    const before = (await ada.get(`/knowledge-bases/${id}`)).body.data
    const response = await requestExport(ada, id)
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const chunks = [(await reader.read()).value ?? new Uint8Array()]

    const [changed = '', deleted = ''] = [documents.at(-1), documents.at(-2)]
    t.equal((await ada.patch(`/knowledge-bases/${id}`, { name: 'Other' })).status, 200)
    t.equal((await ada.patch(`/documents/${changed}`, { title: 'Other' })).status, 200)
    const body = { format: 'markdown', content: 'other' }
    t.equal((await ada.put(`/documents/${changed}/content`, body, { 'if-match': '*' })).status, 200)
    t.equal((await ada.delete(`/documents/${deleted}`)).status, 204)
    await created(ada, '/documents', { title: 'New', knowledge_base_id: id })

    for (let part = await reader.read(); !part.done; part = await reader.read()) chunks.push(part.value)
    const { files, manifest } = await manifestOf(Buffer.concat(chunks))
    t.strictSame(manifest['knowledge_base'], before)
    t.strictSame(idsOf(manifest['documents']), [...documents].sort())
    t.strictSame(new Set(manifest['documents'].map(({ title }: { title: string }) => title)), new Set(['Large']))
    for (const document of documents) t.ok((files.get(`documents/${document}.json`)?.length ?? 0) > 100_000)
  })
})

t.test('many exports of one user take turns, and all of them are whole', async (t) => {
  const ada = await signUp()
  const base = await created(ada, '/knowledge-bases', { name: 'Docs' })
  await created(ada, '/documents', { title: 'One', knowledge_base_id: base.id })
  const all = await Promise.all(Array.from({ length: 8 }, () => exported(ada, base.id)))
  t.strictSame(
    all.map(({ files }) => files.size),
    all.map(() => 3),
  )
})

t.test('an export counts as a job, and a stranger learns nothing of it', async (t) => {
  const limited = await startTestService(t, { RATE_JOB_PER_MIN: '1' })
  const [ada, stranger] = [await limited.signUp(), await limited.signUp()]
  const base = await created(ada, '/knowledge-bases', { name: 'Docs' })
  t.match(await stranger.get(`/knowledge-bases/${base.id}/export`), {
    status: 404,
    body: { error: { code: 'knowledge_base_not_found' } },
  })
  await exported(ada, base.id)
  t.match(await ada.get(`/knowledge-bases/${base.id}/export`), {
    status: 429,
    body: { error: { code: 'rate_limited', details: { bucket: 'job' } } },
  })
})

/** More bytes than the buffers hold between the service and a client that does not read. */
async function large(client: Client): Promise<{ id: number; documents: string[] }> {
  const { id } = await created(client, '/knowledge-bases', { name: 'Large' })
  const documents: string[] = []
  for (let index = 0; index < 24; index += 1) {
    const text = randomBytes(360_000).toString('base64')
    documents.push((await make(client, [p(text)], { title: 'Large', knowledge_base_id: id })).id)
  }
  return { id, documents }
}

const Pid = row(Type.Object({ pid: Type.Number() }))

async function exportConnections(): Promise<readonly number[]> {
  return database.anyFirst(sql.type(Pid)`
    SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND state LIKE 'idle in transaction%' AND backend_xmin IS NOT NULL`)
}

// biome-ignore lint/suspicious/noExplicitAny: records of every shape
async function created(client: Client, path: string, body: object): Promise<any> {
  const reply = await client.post(path, body)
  if (reply.status !== 201) throw new Error(`POST ${path} answered ${reply.status}: ${reply.text}`)
  return reply.body.data
}

const idsOf = (records: { id: string }[]) => records.map(({ id }) => id)
const pathsOf = (records: { path: string | null }[]) => records.map(({ path }) => path)

function isPortable(path: string): boolean {
  const device = /^(con|prn|aux|nul|com\d|lpt\d)[ .]*(\.|$)/i
  return (
    path.length <= 240 &&
    path
      .split('/')
      .every((name) => !device.test(name) && Buffer.byteLength(name) <= 255 && !/[. ]$|^\.{0,2}$/.test(name)) &&
    !/[\\:*?"<>|\p{Cc}\u202e]/u.test(path)
  )
}
