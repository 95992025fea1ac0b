import { once } from 'node:events'
import { existsSync, mkdtempSync, openAsBlob, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pLimit from 'p-limit'
import { type components, KnowledgeBase, KnowledgeBaseError } from '../../shared/client/client.ts'
import { runCommandLine, UsageError } from '../../shared/process/command-line.ts'
import { everyNode } from '../support/every-node.ts'
import { type MarkdownFile, markdownFiles } from '../support/markdown-files.ts'
import { root, startWholeService } from '../support/processes.ts'

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
  const kb = clientOf(service)
  const started = performance.now()
  const { data } = await kb.api.POST('/knowledge-bases', { body: { name: 'Demo' } })
  const place = { kb, knowledgeBase: data.id }
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

type Place = { kb: KnowledgeBase; knowledgeBase: number }

async function importFolders({ kb, knowledgeBase }: Place, files: MarkdownFile[]): Promise<Map<string, number>> {
  const names = [...new Set(files.map((file) => file.package))]
  const folders = names.map((name) =>
    limit(async () => {
      const { data } = await kb.api.POST('/folders', { body: { name, knowledge_base_id: knowledgeBase } })
      return [name, data.id] as const
    }),
  )
  return new Map(await Promise.all(folders))
}

// What the service refuses for a good reason, such as a text over the limit, is told at the end.
async function importDocuments(
  { kb, knowledgeBase }: Place,
  { files, folders }: { files: MarkdownFile[]; folders: Map<string, number> },
): Promise<string[]> {
  const one = (file: MarkdownFile) => async () => {
    const body = {
      title: file.title,
      knowledge_base_id: knowledgeBase,
      folder_id: folders.get(file.package),
      content: { format: 'markdown' as const, content: file.text },
    }
    try {
      await kb.api.POST('/documents', { body })
      return []
    } catch (error) {
      if (!(error instanceof KnowledgeBaseError)) throw error
      return [`${file.package}, ${file.title}: ${error.message}`]
    }
  }
  return (await Promise.all(files.map((file) => limit(one(file))))).flat()
}

async function completeProjection({ kb, knowledgeBase }: Place) {
  for (;;) {
    const query = { q: 'demo', limit: 1, knowledge_base_id: knowledgeBase, wait_ms: 10_000 }
    const { data } = await kb.api.GET('/search/v2', { params: { query } })
    if (data.projection.complete) return data.projection
  }
}

async function search({ kb, knowledgeBase }: Place, query: string): Promise<void> {
  const before = performance.now()
  const params = { query: { q: query, knowledge_base_id: knowledgeBase } }
  const { results } = (await kb.api.GET('/search/v2', { params })).data
  const [best] = results
  const ms = Math.round(performance.now() - before)
  print('search', `${query}: ${results.length} hits in ${ms} ms, best in ${best?.path_text ?? 'none'}`)
}

/** The path of a public page with one of everything that a document can hold. */
async function sharePage({ kb, knowledgeBase }: Place): Promise<string> {
  const empty = { title: 'Everything that a document can hold', knowledge_base_id: knowledgeBase }
  const { id, version } = (await kb.api.POST('/documents', { body: empty })).data
  const picture = join(root, 'node_modules/playwright-core/lib/tools/dashboard/appIcon.png')
  const file = await openAsBlob(picture, { type: 'image/png' })
  const attachment = await kb.upload({ documentId: id, file, filename: 'icon.png' })
  const document = { type: 'doc', content: everyNode({ attachmentId: attachment.id, documentId: id }) }
  await kb.api.PUT('/documents/{id}/content', {
    params: { path: { id }, header: { 'If-Match': version } },
    body: { format: 'tiptap-json', document: document as components['schemas']['TiptapDocumentInput'] },
  })
  const { data } = await kb.api.POST('/documents/{id}/public-share', { params: { path: { id } }, body: {} })
  return `/s/${data.share_id}`
}

async function untilInterrupted(): Promise<void> {
  if (process.stdout.isTTY) {
    print('stop', 'Ctrl-C stops the service and deletes what the demo has written.')
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  } else print('note', 'This service stops now. To look at the page, run `npm start` first and the demo beside it.')
}

/** A client that waits when the service says so, and that notes how often and how long calls take. */
function clientOf({ origin, token }: DemoService): KnowledgeBase {
  return new KnowledgeBase({
    origin,
    token,
    userAgent: 'knowledge-base-documents-demo/1 (demo)',
    maxRetries: 12,
    onRetry: () => {
      waits += 1
    },
    async fetch(input, init) {
      const before = performance.now()
      const response = await fetch(input, init)
      const ms = performance.now() - before
      requests += 1
      if (ms > slowest.ms) Object.assign(slowest, { name: `${init?.method} ${new URL(String(input)).pathname}`, ms })
      return response
    },
  })
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
