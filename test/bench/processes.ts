import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '../support/client.ts'
import { startApi, startWholeService } from '../support/processes.ts'
import { createDocument, type Site } from '../support/site.ts'
import { type Figure, ms, percentile, rate } from './harness.ts'

/** Measures how fast an API process starts, and the memory of each process after some work. */
export async function measureProcesses(site: Site): Promise<Figure[]> {
  const starts: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const started = performance.now()
    const api = await startApi(site.env)
    starts.push(performance.now() - started)
    await api.stop()
  }
  const workers = {
    search: await site.work('search'),
    events: await site.work('events'),
    sweeps: await site.work('sweeps'),
  }
  await rate({ count: 200, concurrency: 4 }, (index) => createDocument(site, `# Heading\n\nparagraph ${index}`))
  const memory = Object.entries({ api: site.api, ...workers }).map(([name, { pid }]) => ({
    name: `resident memory of ${name} after 200 documents`,
    value: `${Math.round(residentKilobytes(pid) / 1024)} MB`,
  }))
  const api = { name: 'API process, start to ready, p50', value: ms(percentile(starts, 50)) }
  return [api, ...memory, ...(await measureWholeService())]
}

const readyMs = 3000
const wholeMegabytes = 600

// What `npm start` starts, without npm itself: the supervisor, the API, live editing and one process for all workers.
// The first start makes the database and compiles all modules.
async function measureWholeService(): Promise<Figure[]> {
  const directory = mkdtempSync(join(tmpdir(), 'documents-bench-'))
  const start = () => startWholeService({ directory, env: { NODE_COMPILE_CACHE: join(directory, 'compiled') } })
  const starts: number[] = []
  let service = await start()
  for (let round = 0; round < 3; round += 1) {
    await service.stop()
    const started = performance.now()
    service = await start()
    starts.push(performance.now() - started)
  }
  await sleep(5000)
  const atRest = wholeResidentMegabytes(service.pid)
  await createDocuments(new Client({ origin: service.origin, token: service.token }), 200)
  await sleep(5000)
  const afterwards = wholeResidentMegabytes(service.pid)
  await service.stop()
  rmSync(directory, { recursive: true, force: true })
  const ready = percentile(starts, 50)
  const memory = (name: string, megabytes: number) => ({
    name: `resident memory of the whole service ${name}, without PostgreSQL`,
    value: `${Math.round(megabytes)} MB`,
    bar: `≤ ${wholeMegabytes} MB`,
    met: megabytes <= wholeMegabytes,
  })
  return [
    { name: 'whole service, start to ready, p50', value: ms(ready), bar: `≤ ${readyMs} ms`, met: ready <= readyMs },
    memory('at rest', atRest),
    memory('after 200 documents', afterwards),
  ]
}

async function createDocuments(client: Client, count: number): Promise<void> {
  const { body } = await client.post('/knowledge-bases', { name: 'Memory' })
  await rate({ count, concurrency: 4 }, async (index) => {
    const content = { format: 'markdown', content: `# Heading\n\nparagraph ${index}` }
    const made = await client.post('/documents', { title: 'Document', knowledge_base_id: body.data.id, content })
    if (made.status !== 201) throw new Error(`${made.status} ${made.text}`)
  })
}

// The sum over a process and its descendants. Pages that processes share count once for each of them.
function wholeResidentMegabytes(root: number): number {
  const lines = execFileSync('ps', ['-e', '-o', 'pid=,ppid=,rss=,args='], { encoding: 'utf8' }).trim().split('\n')
  const all = lines.map((line) => {
    const [pid = '', parent = '', rss = '', ...command] = line.trim().split(/ +/)
    return { pid: Number(pid), parent: Number(parent), kilobytes: Number(rss), command: command.join(' ') }
  })
  const sumOf = (pid: number): number =>
    all
      .filter(({ parent, command }) => parent === pid && !/^\S*postgres\b/.test(command))
      .reduce((sum, child) => sum + sumOf(child.pid), all.find((one) => one.pid === pid)?.kilobytes ?? 0)
  return sumOf(root) / 1024
}

function residentKilobytes(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
}
