import type { Test } from 'tap'
import * as Y from 'yjs'
import { authenticate } from '../../api/http/authenticate.ts'
import type { Caller } from '../../shared/auth/caller.ts'
import { documentToLines } from '../../shared/body/canonical.ts'
import { commitBody } from '../../shared/body/commit.ts'
import type { CommitContext } from '../../shared/body/consequence.ts'
import { writtenBody } from '../../shared/body/content.ts'
import { createDocument } from '../../shared/body/create-document.ts'
import type { BodyNode, DocNode } from '../../shared/body/document.ts'
import {
  compactLive,
  type Flush,
  type Flushed,
  type LiveContext,
  openLive,
  persistLive,
  syncLive,
} from '../../shared/body/live/live-document.ts'
import { liveHead } from '../../shared/body/live/queries.ts'
import type { LiveReplica } from '../../shared/body/live/replica.ts'
import { normaliseDocument } from '../../shared/body/normalise.ts'
import { bodyText } from '../../shared/body/queries.ts'
import { bodyFragment, readDocument, readYText } from '../../shared/body/yjs/encoding.ts'
import { onTheSpot } from '../../shared/computations/ahead.ts'
import { bodyConsequences } from '../../shared/consequences/body.ts'
import { inTransaction, sql } from '../../shared/database/database.ts'
import { visibleDocument } from '../../shared/documents/queries.ts'
import type { Client } from '../support/client.ts'
import { startTestService } from '../support/service.ts'

/** A service with one writer, with helpers for live editing and its tables. */
export class Site {
  readonly service: Awaited<ReturnType<typeof startTestService>>
  readonly client: Client
  readonly caller: Caller
  readonly #knowledgeBaseId: number

  private constructor(site: Pick<Site, 'service' | 'client' | 'caller'>, knowledgeBaseId: number) {
    this.service = site.service
    this.client = site.client
    this.caller = site.caller
    this.#knowledgeBaseId = knowledgeBaseId
  }

  /** Starts a service. `env` overrides environment variables. */
  static async start(t: Test, env: Record<string, string> = {}): Promise<Site> {
    const service = await startTestService(t, env)
    return Site.of(service, await service.signUp())
  }

  /** A site of a service that runs already. The client is the writer. */
  static async of(service: Site['service'], client: Client): Promise<Site> {
    const caller = await callerOf(service, client)
    const { body } = await client.post('/knowledge-bases', { name: 'Live' })
    return new Site({ service, client, caller }, body.data.id)
  }

  /** A user of the same workspace with another role. */
  async colleague(role: 'viewer' | 'editor'): Promise<Caller> {
    const workspace = this.caller.memberships[0]?.name ?? ''
    return callerOf(this.service, await this.service.signUp({ role, workspace }))
  }

  run<T>(work: (context: CommitContext) => Promise<T>): Promise<T> {
    const { jobs, config } = this.service.service
    const context = { jobs, config, ahead: onTheSpot, consequences: { body: bodyConsequences } }
    return inTransaction(this.service.database, (tx) => work({ tx, ...context }))
  }

  /** What a live process passes to the functions of the database. */
  get live(): LiveContext {
    const { jobs, config } = this.service.service
    return { database: this.service.database, jobs, config, consequences: { body: bodyConsequences } }
  }

  /** Creates a document and returns its key. */
  async create(body: BodyNode): Promise<LiveKey> {
    const content = async () => writtenBody(normaliseDocument(body, { from: 'json' }))
    const input = { title: 'Live', knowledge_base_id: this.#knowledgeBaseId }
    const created = await this.run((context) => {
      const whole = { ...context, config: this.service.config }
      return createDocument(whole, { caller: this.caller, document: input, content })
    })
    return { workspace_id: created.document.workspace_id, id: created.document.id }
  }

  /** Writes a body as a route of the API does. */
  async write(key: LiveKey, edit: (body: DocNode) => DocNode): Promise<DocNode> {
    const edited = (body: DocNode) => ({ text: documentToLines(edit(body)).join('\n') })
    const commit = {
      documentId: key.id,
      caller: this.caller,
      edit: (current: { document: DocNode }) => edited(current.document),
    }
    return (await this.run((context) => commitBody(context, commit))).body.document
  }

  /** The row of a document and its body. */
  async read(key: LiveKey) {
    const locator = { documentId: key.id, workspaceIds: [key.workspace_id] }
    const document = await visibleDocument(this.service.database, locator)
    if (document === null) throw new Error(`${key.id} is gone`)
    const text = await bodyText(this.service.database, document)
    return { document, body: { type: 'doc', content: JSON.parse(`[${text.split('\n').join(',')}]`) } as DocNode }
  }

  /** The position of the Y document. */
  async head(key: LiveKey) {
    return (await liveHead(this.service.database, key)) ?? { body_seq: 0, n: 0, folded_n: 0 }
  }

  /** The kept bodies, oldest first. */
  async keptBodies(key: LiveKey): Promise<number[]> {
    const found = await this.service.database.anyFirst(sql.unsafe`
      SELECT body_seq FROM document_bodies WHERE document_id = ${key.id} ORDER BY body_seq`)
    return found as number[]
  }
}

/** The key of a document. */
export type LiveKey = { workspace_id: string; id: string }

/** A process that holds a document open for browsers, as the database sees it. */
export class LiveProcess {
  readonly site: Site
  readonly key: LiveKey
  doc = new Y.Doc()
  pending: Uint8Array[] = []
  replica!: LiveReplica

  constructor(site: Site, key: LiveKey) {
    this.site = site
    this.key = key
  }

  static async open(site: Site, key: LiveKey): Promise<LiveProcess> {
    const opened = new LiveProcess(site, key)
    await opened.restart()
    return opened
  }

  /** Forgets its memory and opens the document again. */
  async restart(): Promise<void> {
    this.doc = new Y.Doc()
    this.pending = []
    const { replica, updates } = await openLive(this.site.live, this.key)
    this.replica = replica
    this.#take(updates)
    // Updates of another origin than the database come from browsers.
    this.doc.on('update', (update: Uint8Array, origin: unknown) => {
      if (origin !== database) this.pending.push(update)
    })
  }

  /** Fetches the updates of the database, applies and returns them. */
  async sync({ isBehind = false } = {}): Promise<Uint8Array[]> {
    return this.#take((await syncLive(this.site.live, { replica: this.replica, isBehind })).updates)
  }

  async flush(caller: { userId: string } = this.site.caller, version: Flush['version'] = 'none'): Promise<Flushed> {
    const updates = this.pending
    const flushed = await persistLive(this.site.live, { replica: this.replica, caller, updates, version })
    this.pending = this.pending.slice(updates.length)
    this.#take(flushed.updates)
    return flushed
  }

  async compact(): Promise<void> {
    await compactLive(this.site.live, this)
  }

  #take(updates: Uint8Array[]): Uint8Array[] {
    for (const update of updates) Y.applyUpdate(this.doc, update, database)
    return updates
  }
}

const database = Symbol('database')

/** Exchanges updates both ways, as a browser and its server do after a reconnect. */
export function exchange(a: Y.Doc, b: Y.Doc): void {
  copyInto(b, a)
  copyInto(a, b)
}

/** Sends `to` the updates of `from` that it lacks. */
export function copyInto(to: Y.Doc, from: Y.Doc): void {
  const missing = Y.encodeStateAsUpdate(from, Y.encodeStateVector(to))
  Y.applyUpdate(to, missing)
}

/** The body of a Y document in normal form. */
export function shown(doc: Y.Doc): DocNode {
  return normaliseDocument(readDocument(bodyFragment(doc)).document, { from: 'json' }).result
}

/** The Y text of the top-level block at an index. */
export function textAt(doc: Y.Doc, index: number): Y.XmlText {
  return (bodyFragment(doc).get(index) as Y.XmlElement).get(0) as Y.XmlText
}

/** Splits a top-level paragraph as an editor does on Enter: both halves have its id. */
export function split(doc: Y.Doc, index: number, offset: number): void {
  doc.transact(() => {
    const text = textAt(doc, index)
    const element = text.parent as Y.XmlElement
    const second = new Y.XmlElement(element.nodeName)
    for (const [name, value] of Object.entries(element.getAttributes())) second.setAttribute(name, value as string)
    const rest = plain(text).slice(offset)
    second.insert(0, [new Y.XmlText(rest)])
    text.delete(offset, rest.length)
    bodyFragment(doc).insert(index + 1, [second])
  })
}

/** The characters of a Y text, without marks. */
export function plain(text: Y.XmlText): string {
  return readYText(text)
    .map((node) => node.text ?? '')
    .join('')
}

async function callerOf(service: Site['service'], client: Client): Promise<Caller> {
  return authenticate(service, { authorization: `Bearer ${client.bearer}`, resource: 'api' })
}
