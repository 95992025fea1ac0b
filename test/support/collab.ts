import { setTimeout as sleep } from 'node:timers/promises'
import { HocuspocusProvider } from '@hocuspocus/provider'
import * as Y from 'yjs'
import type { DocNode } from '../../shared/body/document.ts'
import { normaliseDocument } from '../../shared/body/normalise.ts'
import { bodyFragment, readDocument } from '../../shared/body/yjs/encoding.ts'
import { type ProcessLocation, portOf, type ServiceProcess, type Settings, startProcess } from './processes.ts'

/** A collab process that a test has started. */
export type CollabProcess = ServiceProcess & {
  /** The address of its probes and metrics. */
  origin: string
  /** The address for providers. */
  url: string
}

/**
 * Starts a collab process and resolves when it serves. Pauses before saving are short unless `env` says otherwise. The
 * port is free unless `env` names one. Without a port in `env`, the level of its log must not be above `info`.
 */
export async function startCollab(env: Settings, location?: ProcessLocation): Promise<CollabProcess> {
  const { COLLAB_PORT: given = '0' } = env
  const started = startProcess('api/collab/main.ts', {
    env: { COLLAB_DEBOUNCE_MS: '50', COLLAB_MAX_DEBOUNCE_MS: '500', ...env, COLLAB_PORT: given },
    ...(location && { location }),
  })
  const port = given === '0' ? await portOf(started) : given
  const host = `${location?.address ?? '127.0.0.1'}:${port}`
  const origin = `http://${host}`
  let over = false
  void started.ended.then(() => {
    over = true
  })
  while (!(await fetch(`${origin}/readyz`).catch(() => undefined))?.ok) {
    if (over) throw new Error(`The process ended:\n${started.output()}`)
    await sleep(20)
  }
  return { ...started, origin, url: `ws://${host}/collab` }
}

/** A message of the collab process to its editors. */
export type SaveMessage = {
  type: string
  version?: string
  complete?: boolean
  state_vector?: string
  reason?: string
  [member: string]: unknown
}

/** A person with a stock provider, who edits one document. */
export class Person {
  readonly doc: Y.Doc
  readonly provider: HocuspocusProvider
  /** The messages of the process about saving, oldest first. */
  readonly messages: SaveMessage[] = []
  /** Reasons of denied connections. */
  readonly denials: string[] = []

  /** Connects at once. `doc` is the document of an earlier provider that was offline. */
  constructor(options: { url: string; token: string; documentId: string; doc?: Y.Doc }) {
    this.doc = options.doc ?? new Y.Doc()
    this.provider = new HocuspocusProvider({
      url: options.url,
      name: options.documentId,
      document: this.doc,
      token: options.token,
      onStateless: ({ payload }) => this.messages.push(JSON.parse(payload)),
      onAuthenticationFailed: ({ reason }) => this.denials.push(reason),
    })
  }

  /** Connects and resolves when the document is there. */
  static async open(options: { url: string; token: string; documentId: string; doc?: Y.Doc }): Promise<Person> {
    const person = new Person(options)
    while (!person.provider.isSynced) await sleep(5)
    return person
  }

  /** Types at the end of the top-level block at `index`. Returns at once. */
  type(text: string, index = 0): void {
    const target = this.textAt(index)
    target.insert(target.length, text)
  }

  /** The Y text of the top-level block at an index. */
  textAt(index: number): Y.XmlText {
    return (bodyFragment(this.doc).get(index) as Y.XmlElement).get(0) as Y.XmlText
  }

  /** The texts of the top-level blocks, without marks. */
  get texts(): string[] {
    return this.body.content.map(
      (block) =>
        JSON.stringify(block)
          .match(/(?<="text":")[^"]*/g)
          ?.join('') ?? '',
    )
  }

  /** The body that the person sees, in normal form. */
  get body(): DocNode {
    return normaliseDocument(readDocument(bodyFragment(this.doc)).document, { from: 'json' }).result
  }

  /** Whether the process has said that everything is stored that this person has typed so far. */
  get isSaved(): boolean {
    const { complete, state_vector } = this.messages.findLast(({ type }) => type === 'saved') ?? {}
    if (!complete || state_vector === undefined || this.provider.hasUnsyncedChanges) return false
    const stored = Y.decodeStateVector(Buffer.from(state_vector, 'base64'))
    return (stored.get(this.doc.clientID) ?? 0) >= Y.getState(this.doc.store, this.doc.clientID)
  }

  /** Resolves when the process has said that all text is stored. */
  async saved(): Promise<void> {
    while (!this.isSaved) await sleep(5)
  }

  /** Resolves when the condition holds for what the person sees. */
  async sees(condition: (texts: string[]) => boolean): Promise<void> {
    while (!condition(this.texts)) await sleep(5)
  }

  /** Resolves when the process has sent such a message. */
  async told(condition: (message: SaveMessage) => boolean): Promise<void> {
    while (!this.messages.some(condition)) await sleep(5)
  }

  /** Resolves when a connection was denied. */
  async denied(): Promise<void> {
    while (this.denials.length === 0) await sleep(5)
  }

  /** Loses the connection, and does not connect again before `reconnect`. */
  disconnect(): void {
    this.provider.configuration.websocketProvider.disconnect()
  }

  async reconnect(): Promise<void> {
    await this.provider.configuration.websocketProvider.connect()
  }

  /** Closes the connection for good. The document stays readable. */
  close(): void {
    this.provider.destroy()
  }
}
