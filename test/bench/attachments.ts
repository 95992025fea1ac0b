import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { form, samples } from '../support/attachments.ts'
import { startProcess } from '../support/processes.ts'
import { type Site, until } from '../support/site.ts'
import { alternate, type Figure, rate } from './harness.ts'

const clients = 20
const mebibytes = 20
const rounds = 3
// Half of the clients that are active at a time.
const inFlight = (clients * mebibytes) / 2
// A connection that was idle during the other side's round may be closed at any moment.
const unshared = { connection: 'close' }

/**
 * Measures uploads and downloads of 20 MiB by 20 clients at a time, and the memory of the API process meanwhile. The
 * baseline is `node:http` that pipes requests into files and files into answers. It has no form, no hash, no check of
 * the bytes, no flush to the disk and no database.
 */
export async function measureAttachments(site: Site): Promise<Figure[]> {
  const document = await site.client.post('/documents', { title: 'Files' }, unshared)
  const documentId: string = document.body.data.id
  const bytes = Buffer.concat([samples.png, randomBytes(mebibytes * 1024 * 1024 - samples.png.length)])
  const plain = await startPlain()
  try {
    const ours = new Service(site, { documentId, bytes })
    const before = await resident(site.api.pid)
    await ours.upload()
    await ours.download()
    const up = await watched(site.api.pid, () =>
      alternate(rounds, { ours: () => ours.upload(), plain: () => plain.upload(bytes) }),
    )
    const down = await watched(site.api.pid, () =>
      alternate(rounds, { ours: () => ours.download(), plain: () => plain.download() }),
    )
    const growth = Math.max(up.peak, down.peak) - before
    return [
      { name: `uploads of ${mebibytes} MiB by ${clients} clients`, value: speed(up.value.ours) },
      { name: 'same, node:http and a pipe alone', value: speed(up.value.plain) },
      { name: `downloads of ${mebibytes} MiB by ${clients} clients`, value: speed(down.value.ours) },
      { name: 'same, node:http and a pipe alone', value: speed(down.value.plain) },
      { name: 'memory of the API process before', value: megabytes(before) },
      { name: 'at most while it receives', value: megabytes(up.peak) },
      {
        name: 'at most while it sends',
        value: megabytes(down.peak),
        bar: `less than ${inFlight} MB more`,
        met: growth < inFlight * 1e6,
      },
    ]
  } finally {
    await plain.stop()
  }
}

class Service {
  readonly #site: Site
  readonly #file: { raw: Uint8Array; headers: Record<string, string> }
  #urls: string[] = []

  constructor(site: Site, file: { documentId: string; bytes: Uint8Array }) {
    this.#site = site
    const { raw, headers } = form([
      { name: 'document_id', bytes: file.documentId },
      { name: 'file', filename: 'a.png', type: 'image/png', bytes: file.bytes },
    ])
    this.#file = { raw, headers: { ...headers, ...unshared } }
  }

  upload(): Promise<number> {
    this.#urls = []
    return rate({ count: clients, concurrency: clients }, async () => {
      const reply = await this.#site.client.call('POST', '/attachments', this.#file)
      if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
      this.#urls.push(reply.body.data.url)
    })
  }

  download(): Promise<number> {
    const { origin, bearer } = this.#site.client
    const headers = { authorization: `Bearer ${bearer}`, ...unshared }
    return rate({ count: clients, concurrency: clients }, (index) => read(`${origin}${this.#urls[index]}`, headers))
  }
}

async function startPlain() {
  const directory = mkdtempSync(join(tmpdir(), 'svc-plain-'))
  const server = startProcess(fileURLToPath(new URL('plain-file-server.ts', import.meta.url)), {
    words: [directory],
    env: {},
  })
  await until(async () => server.output().includes('\n'))
  const origin = `http://127.0.0.1:${Number(server.output())}`
  return {
    upload: (bytes: Uint8Array<ArrayBuffer>) =>
      rate({ count: clients, concurrency: clients }, async (index) => {
        const { ok } = await fetch(`${origin}/${index}`, { method: 'PUT', body: bytes, headers: unshared })
        if (!ok) throw new Error('the plain server refused')
      }),
    download: () => rate({ count: clients, concurrency: clients }, (index) => read(`${origin}/${index}`, unshared)),
    async stop() {
      await server.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function read(url: string, headers: Record<string, string>): Promise<void> {
  const response = await fetch(url, { headers })
  let count = 0
  for await (const chunk of response.body ?? []) count += chunk.length
  if (count !== mebibytes * 1024 * 1024) throw new Error(`${response.status} with ${count} bytes`)
}

// The peak memory of a process while `work` runs.
async function watched<T>(pid: number, work: () => Promise<T>): Promise<{ value: T; peak: number }> {
  let peak = 0
  let isOver = false
  const watching = (async () => {
    while (!isOver) {
      peak = Math.max(peak, await resident(pid))
      await sleep(50)
    }
  })()
  try {
    const value = await work()
    return { value, peak }
  } finally {
    isOver = true
    await watching
  }
}

async function resident(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)])
  return Number(stdout) * 1024
}

function speed(filesPerSecond: number): string {
  return `${Math.round(filesPerSecond * mebibytes)} MiB/s`
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`
}
