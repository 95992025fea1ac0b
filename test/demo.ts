import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { runCommandLine, UsageError } from '../shared/process/command-line.ts'
import { uploaded } from './support/attachments.ts'
import { Client, type Reply } from './support/client.ts'
import { everyNode } from './support/every-node.ts'
import { type MarkdownFile, markdownFiles } from './support/markdown-files.ts'
import { root, startWholeService } from './support/processes.ts'

const usage = `usage: npm run demo [-- FILES]

Imports FILES Markdown files of the installed packages, 400 unless named, one folder for each package, waits until the
index covers them, searches, and shares a page with one of everything that a document can hold. It uses the service at
ORIGIN with TOKEN, else the one that runs on DATA_DIR, else one that it starts on a temporary folder. That one serves
until Ctrl-C on a terminal, and stops at the end elsewhere.

Exit codes: 0 it is done, 1 it failed, 2 the command line makes no sense.`

const limit = pLimit(8)
const queries = ['license', 'async function', '"pull request"', 'postgres', 'ECMAScript parser']
const slowest = { name: '', ms: 0 }
let requests = 0
let waits = 0

await runCommandLine({ usage, options: {}, words: { least: 0, most: 1 } }, async ({ words: [count = '400'] }) => {
  if (!/^[1-9][0-9]{0,5}$/.test(count)) throw new UsageError('FILES is a number from 1 to 999999')
  const service = await findService()
  try {
    await demo(service, markdownFiles(Number(count)))
    if (service.isTemporary) await untilInterrupted()
  } finally {
    await service.stop()
  }
})

async function demo(service: DemoService, files: MarkdownFile[]): Promise<void> {
  const client = new Client(service)
  const started = performance.now()
  const knowledgeBase = (await created(client, { path: '/knowledge-bases', body: { name: 'Demo' } })).body.data
    .id as number
  const place = { client, knowledgeBase }
  const refused = await importDocuments(place, { files, folders: await importFolders(place, files) })
  const written = performance.now()
  const projection = await completeProjection(place)
  const indexed = performance.now()
  const characters = files.reduce((sum, { text }) => sum + text.length, 0)
  const seconds = (written - started) / 1000
  print('service', service.origin)
  print('folders', new Set(files.map((file) => file.package)).size)
  print('documents', `${files.length - refused.length} of ${files.length}, ${Math.round(characters / 1000)} kB`)
  for (const reason of refused) print('refused', reason)
  print('import', `${seconds.toFixed(1)} s, ${Math.round(files.length / seconds)} documents/s`)
  print('index', `complete ${Math.round(indexed - written)} ms after the last write, watermark ${projection.watermark}`)
  for (const query of queries) await search(place, query)
  print('requests', `${requests}, ${waits} of them told to wait`)
  print('slowest', `${slowest.name}, ${Math.round(slowest.ms)} ms`)
  print('page', service.origin + (await sharePage(place)))
}

type Place = { client: Client; knowledgeBase: number }

async function importFolders({ client, knowledgeBase }: Place, files: MarkdownFile[]): Promise<Map<string, number>> {
  const names = [...new Set(files.map((file) => file.package))]
  const folders = names.map((name) =>
    limit(async () => {
      const { body } = await created(client, { path: '/folders', body: { name, knowledge_base_id: knowledgeBase } })
      return [name, body.data.id as number] as const
    }),
  )
  return new Map(await Promise.all(folders))
}

// What the service refuses for a good reason, such as a text over the limit, is told at the end.
async function importDocuments(
  { client, knowledgeBase }: Place,
  { files, folders }: { files: MarkdownFile[]; folders: Map<string, number> },
): Promise<string[]> {
  const one = (file: MarkdownFile) => async () => {
    const body = {
      title: file.title,
      knowledge_base_id: knowledgeBase,
      folder_id: folders.get(file.package),
      content: { format: 'markdown', content: file.text },
    }
    const { status, text } = await call(client, { method: 'POST', path: '/documents', body })
    return status === 201 ? [] : [`${file.package}, ${file.title}: ${status} ${text}`]
  }
  return (await Promise.all(files.map((file) => limit(one(file))))).flat()
}

async function completeProjection({ client, knowledgeBase }: Place): Promise<{ complete: boolean; watermark: string }> {
  for (;;) {
    const path = `/search/v2?q=demo&limit=1&knowledge_base_id=${knowledgeBase}`
    const { body } = await call(client, { method: 'GET', path })
    if (body.data.projection.complete) return body.data.projection
    await sleep(100)
  }
}

async function search({ client, knowledgeBase }: Place, query: string): Promise<void> {
  const before = performance.now()
  const path = `/search/v2?q=${encodeURIComponent(query)}&knowledge_base_id=${knowledgeBase}`
  const { body } = await call(client, { method: 'GET', path })
  const [best] = body.data.results
  const ms = Math.round(performance.now() - before)
  print('search', `${query}: ${body.data.results.length} hits in ${ms} ms, best in ${best?.path_text ?? 'none'}`)
}

/** The path of a public page with one of everything that a document can hold. */
async function sharePage({ client, knowledgeBase }: Place): Promise<string> {
  const members = { title: 'Everything that a document can hold', knowledge_base_id: knowledgeBase }
  const empty = { ...members, content: { format: 'markdown', content: '' } }
  const { id } = (await created(client, { path: '/documents', body: empty })).body.data
  const bytes = readFileSync(join(root, 'node_modules/playwright-core/lib/tools/dashboard/appIcon.png'))
  const attachmentId = await uploaded(client, { documentId: id, bytes })
  const document = { type: 'doc', content: everyNode({ attachmentId, documentId: id }) }
  const guard = { 'if-match': '*' }
  const reply = await client.put(`/documents/${id}/content`, { format: 'tiptap-json', document }, guard)
  if (reply.status !== 200) throw new Error(`PUT /documents/${id}/content: ${reply.status} ${reply.text}`)
  const { share_id } = (await created(client, { path: `/documents/${id}/public-share`, body: {} })).body.data
  return `/s/${share_id}`
}

async function untilInterrupted(): Promise<void> {
  if (process.stdout.isTTY) {
    print('stop', 'Ctrl-C stops the service and deletes what the demo has written.')
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  } else print('note', 'This service stops now. To look at the page, run `npm start` first and the demo beside it.')
}

async function created(client: Client, { path, body }: { path: string; body: object }): Promise<Reply> {
  const reply = await call(client, { method: 'POST', path, body })
  if (reply.status !== 201) throw new Error(`POST ${path}: ${reply.status} ${reply.text}`)
  return reply
}

/** Calls the service and waits when it says so. */
async function call(client: Client, request: { method: string; path: string; body?: object }): Promise<Reply> {
  const { method, path, body } = request
  for (;;) {
    const before = performance.now()
    const reply = await client.call(method, path, body === undefined ? {} : { body })
    const ms = performance.now() - before
    requests += 1
    if (ms > slowest.ms)
      Object.assign(slowest, { name: `${method} ${path} ${body && 'title' in body ? body.title : ''}`, ms })
    if (reply.status !== 429) return reply
    waits += 1
    await sleep(Number(reply.headers.get('retry-after')) * 1000)
  }
}

type DemoService = { origin: string; token: string; isTemporary: boolean; stop: () => Promise<unknown> }

async function findService(): Promise<DemoService> {
  const { ORIGIN: origin, TOKEN: token, PORT: port = '3000', DATA_DIR: directory = '.data' } = process.env
  const given = { isTemporary: false, stop: async () => {} }
  if (origin && token) return { ...given, origin, token }
  const kept = join(directory, 'bootstrap.json')
  const running = origin ?? `http://localhost:${port}`
  const ready = await fetch(`${running}/readyz`).catch(() => undefined)
  if (ready?.ok && existsSync(kept))
    return { ...given, origin: running, token: JSON.parse(readFileSync(kept, 'utf8')).token }
  return ownService()
}

async function ownService(): Promise<DemoService> {
  const directory = mkdtempSync(join(tmpdir(), 'documents-demo-'))
  const env = { RATE_READ_PER_MIN: '0', RATE_WRITE_PER_MIN: '0', RATE_SEARCH_PER_MIN: '0' }
  const { origin, token, stop } = await startWholeService({ directory, env })
  return {
    origin,
    token,
    isTemporary: true,
    async stop() {
      await stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function print(name: string, value: string | number): void {
  process.stdout.write(`${name.padEnd(10)} ${value}\n`)
}
