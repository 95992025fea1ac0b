import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { DocNode } from '../../shared/body/document.ts'
import { deriveState } from '../../shared/body/yjs/state.ts'
import { freePort } from '../../shared/start/processes.ts'
import { type ServiceProcess, type Settings, startProcess } from '../support/processes.ts'
import type { Site, Teardown } from '../support/site.ts'
import type { Requests } from './collab-clients.ts'
import { allProcesses, processorMilliseconds } from './proc.ts'
import type { Probed } from './process-probe.ts'

/** What a part of the measurement needs. `sizes` are the numbers of blocks of its documents. */
export type CollabPart = { t: Teardown; sizes: number[] }

/** A measured server for editors: a collaboration process, or bare Hocuspocus. */
export type EditorServer = {
  url: string
  /** The processor time of its threads so far, in milliseconds. */
  cpu: () => number
  /** The longest block of its event loop since the last call, and its memory after a garbage collection. */
  probe: () => Promise<Probed>
  stop: () => Promise<unknown>
}

/** Starts a collaboration process, or bare Hocuspocus with the same settings. It ends with the measurement. */
export async function startEditorServer(
  t: Teardown,
  { site, kind, settings = {} }: { site: Site; kind: 'collab' | 'bare'; settings?: Settings },
): Promise<EditorServer> {
  const port = await freePort({ host: '127.0.0.1' })
  const file = kind === 'collab' ? 'api/collab/main.ts' : fileURLToPath(import.meta.resolve('./bare-hocuspocus.ts'))
  const probe = fileURLToPath(import.meta.resolve('./process-probe.ts'))
  const env = {
    ...site.env,
    NODE_OPTIONS: `--import ${probe}`,
    COLLAB_PORT: String(port),
    ...saveSettings,
    ...settings,
  }
  const started = startProcess(file, { env })
  t.teardown(started.stop)
  await listening(started, port)
  return {
    url: `ws://127.0.0.1:${port}/collab`,
    cpu: () => processorMilliseconds(started.pid),
    probe: () => probed(started),
    stop: started.stop,
  }
}

// While somebody types without a pause, both servers store every second, ten times as often as by default.
const saveSettings = { COLLAB_DEBOUNCE_MS: '1000', COLLAB_MAX_DEBOUNCE_MS: '1000' }

/** Creates the table of bare Hocuspocus. */
export async function createBareTable(site: Site): Promise<void> {
  await site.ask('CREATE TABLE bare_documents (name text PRIMARY KEY, state bytea NOT NULL)')
  await site.ask('GRANT ALL ON bare_documents TO PUBLIC')
}

/** A document of paragraphs, for collaboration processes and in the table of bare Hocuspocus under the same name. */
export type BenchDocument = { id: string; blocks: string[] }

/** Creates a document of so many paragraphs. */
export async function createParagraphs(site: Site, count: number): Promise<BenchDocument> {
  const content = Array.from({ length: count }, (_, n) => ({
    type: 'paragraph',
    content: [{ type: 'text', text: `paragraph ${n} tells of elephants` }],
  }))
  const made = await site.client.post('/documents', {
    ...{ title: 'Measured', knowledge_base_id: site.knowledgeBase },
    content: { format: 'tiptap-json', document: { type: 'doc', content } },
  })
  if (made.status !== 201) throw new Error(`${made.status} ${made.text}`)
  const { id } = made.body.data
  const read = await site.client.get(`/documents/${id}/content`)
  const document: DocNode = read.body.data.document
  await site.ask(`INSERT INTO bare_documents VALUES ($1, $2)`, [id, Buffer.from(deriveState(document))])
  return { id, blocks: document.content.map(({ attrs }) => attrs.id) }
}

/** Replaces the text of one paragraph over the API, and returns the time of the answer in milliseconds. */
export async function patchParagraph(site: Site, { id, block, text }: { id: string; block: string; text: string }) {
  const body = { content: [{ type: 'text', text }] }
  const { status, text: answer } = await site.client.patch(`/documents/${id}/blocks/${block}`, body)
  if (status !== 200) throw new Error(`${status} ${answer}`)
  return performance.timeOrigin + performance.now()
}

/** The processor time of PostgreSQL and of all its sessions so far, in milliseconds. */
export function postgresCpu(site: Site): number {
  const [line = ''] = readFileSync(join(site.env['DATA_DIR'] ?? '', 'postgres/postmaster.pid'), 'utf8').split('\n')
  const children = allProcesses().filter(({ parent }) => parent === Number(line))
  return children.reduce((sum, { pid }) => sum + processorMilliseconds(pid), 0)
}

/** Starts a process of browsers. The function sends it a request and resolves with the result. */
export function startBrowsers(t: Teardown) {
  const child = fork(fileURLToPath(import.meta.resolve('./collab-clients.ts')))
  t.teardown(() => child.kill())
  const waiting: ((result: unknown) => void)[] = []
  child.on('message', ({ id, result }: { id: number; result: unknown }) => waiting[id]?.(result))
  return async <Name extends keyof Requests>(
    name: Name,
    given: Requests[Name]['takes'],
  ): Promise<Requests[Name]['gives']> => {
    const result = await new Promise((resolve) => {
      child.send({ id: waiting.push(resolve) - 1, name, given })
    })
    const { failed } = (result ?? {}) as { failed?: string }
    if (failed !== undefined) throw new Error(failed)
    return result as Requests[Name]['gives']
  }
}

export type Browsers = ReturnType<typeof startBrowsers>

async function listening(started: ServiceProcess, port: number): Promise<void> {
  let over = false
  void started.ended.then(() => {
    over = true
  })
  while (!(await canConnect(port))) {
    if (over) throw new Error(`The server ended:\n${started.output()}`)
    await sleep(50)
  }
}

async function canConnect(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  const connected = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return connected
}

async function probed({ signal, output }: ServiceProcess): Promise<Probed> {
  const lines = () => output().match(/^probe .*$/gm) ?? []
  const before = lines().length
  signal('SIGUSR2')
  while (lines().length === before) await sleep(10)
  return JSON.parse(lines().at(-1)?.slice('probe '.length) ?? '')
}
