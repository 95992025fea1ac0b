import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { type CommandLine, commandLine } from '../support/command-line.ts'
import { treeCpuSeconds } from '../support/cpu.ts'
import { markdownFiles } from '../support/markdown-files.ts'
import type { Site, Teardown } from '../support/site.ts'
import { type Figure, ms, percentile } from './harness.ts'

type Options = { t: Teardown; documents?: number }

// How often one change is measured.
const changes = 20

/**
 * Measures `sync` as people run it, the start of the process included: Markdown files that people wrote go up and come
 * down, then nothing has changed, then one file or one document changes while `--watch` runs.
 */
export async function measureSync(site: Site, { t, documents: count = 2000 }: Options): Promise<Figure[]> {
  const { origin, bearer = '' } = site.client
  await site.work('events')
  const cli = commandLine(t, { origin, token: bearer })
  const [one, two] = [folder(t), folder(t)]
  for (const [path, text] of filesOf(count)) {
    mkdirSync(dirname(join(one, path)), { recursive: true })
    writeFileSync(join(one, path), text)
  }
  const place = String(site.knowledgeBase)
  const plain = await measurePlain(site, filesOf(count))
  const up = await timed(() => cli.run(['sync', one, place, '--json']))
  const report = JSON.parse(up.result.out)
  const down = await timed(() => cli.run(['sync', two, place, '--json']))
  // The first run after many changes reads files that may have changed again at the time at which they were written.
  await cli.run(['sync', one])
  const still: number[] = []
  for (let round = 0; round < 5; round += 1) still.push((await timed(() => cli.run(['sync', one]))).time)
  const watch = await measureWatch(cli, { site, root: one })
  const [rest, here, there] = [percentile(still, 50), percentile(watch.here, 95), percentile(watch.there, 95)]
  const name = `sync, ${count} files`
  const cost = up.cpu / (1.5 * plain.posts + plain.reads)
  return [
    {
      name: `${name}, the first time, processor time of both sides`,
      value: `${up.cpu.toFixed(1)} s; plain POSTs ${plain.posts.toFixed(1)} s, reads ${plain.reads.toFixed(1)} s`,
      bar: 'at most 1.5 × the POSTs and one read',
      met: cost <= 1,
    },
    { name: `${name}, the first time`, value: `${(up.time / 1000).toFixed(1)} s, ${report.failed.length} refused` },
    { name: `${name}, into an empty folder`, value: `${(down.time / 1000).toFixed(1)} s` },
    { name: `${name}, nothing to do, p50`, value: ms(rest), bar: 'at most 2 s', met: rest <= 2000 },
    { name: `${name}, from save to API, p95`, value: ms(here), bar: 'at most 300 ms', met: here <= 300 },
    { name: `${name}, from API to file, p95`, value: ms(there) },
  ]
}

type Watching = { site: Site; root: string }

async function measureWatch(cli: CommandLine, { site, root }: Watching): Promise<{ here: number[]; there: number[] }> {
  const path = 'Watched.md'
  writeFileSync(join(root, path), 'A paragraph that changes.\n')
  await cli.run(['sync', root])
  const { data } = (await site.client.get('/documents?sort=updated_at&limit=1')).body
  const id: string = data[0].id
  const running = cli.start(['sync', root, '--watch'])
  // A first change shows that the watch has begun.
  await site.client.patch(`/documents/${id}`, { tags: ['watched'] })
  while (!readFileSync(join(root, path), 'utf8').includes('watched')) await sleep(20)
  const times = { here: [] as number[], there: [] as number[] }
  for (let round = 0; round < changes; round += 1) {
    await sleep(400)
    const before = await contentOf(site, id)
    const text = readFileSync(join(root, path), 'utf8')
    writeFileSync(join(root, path), text.replace(/that.*/, `that changes here, ${round}.`))
    let begun = performance.now()
    while ((await contentOf(site, id)).version === before.version) await sleep(2)
    times.here.push(performance.now() - begun)
    await sleep(400)
    const { version, content } = await contentOf(site, id)
    const { mtimeMs } = statSync(join(root, path))
    const body = { format: 'markdown', content: content.replace(/that.*/, `that changes there, ${round}.`) }
    const reply = await site.client.put(`/documents/${id}/content`, body, { 'if-match': `"${version}"` })
    if (reply.status !== 200) throw new Error(reply.text)
    begun = performance.now()
    while (statSync(join(root, path)).mtimeMs === mtimeMs) await sleep(2)
    times.there.push(performance.now() - begun)
  }
  running.child.kill('SIGINT')
  await running.ended
  return times
}

async function contentOf({ client }: Pick<Site, 'client'>, id: string): Promise<{ version: string; content: string }> {
  return (await client.get(`/documents/${id}/content?format=markdown&annotate=anchors`)).body.data
}

// The processor time of storing the same texts in another knowledge base by POST, and of reading them once, in seconds.
async function measurePlain({ client }: Site, files: readonly [path: string, text: string][]) {
  const { id: base } = (await client.post('/knowledge-bases', { name: 'Plain' })).body.data
  const limit = pLimit(6)
  const ids: string[] = []
  const posts = await timed(() =>
    limit.map(files, async ([path, content]) => {
      const body = { title: path.slice(-200), knowledge_base_id: base, content: { format: 'markdown', content } }
      ids.push((await client.post('/documents', body)).body.data.id)
    }),
  )
  const reads = await timed(() => limit.map(ids, (id) => contentOf({ client }, id)))
  await client.delete(`/knowledge-bases/${base}?confirm_id=${base}`)
  return { posts: posts.cpu, reads: reads.cpu }
}

// `cpu` is the processor time of this process and of all processes below it, in seconds.
async function timed<T>(work: () => Promise<T>): Promise<{ time: number; cpu: number; result: T }> {
  const [begun, cpu] = [performance.now(), treeCpuSeconds()]
  const result = await work()
  return { time: performance.now() - begun, cpu: treeCpuSeconds() - cpu, result }
}

function folder(t: Teardown): string {
  const directory = mkdtempSync(join(tmpdir(), 'svc-bench-sync-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

// Files of installed packages, a folder for each package.
function filesOf(count: number): [path: string, text: string][] {
  return markdownFiles(count).map(({ package: name, title, text }, index) => {
    const plain = title.replace(/\.md$/i, '').replaceAll('/', ' - ')
    return [`${name.replace('/', ' ').replace(/^\./, '')}/${plain} ${index}.md`, text]
  })
}
