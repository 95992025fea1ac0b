import { createHash } from 'node:crypto'
import pLimit from 'p-limit'
import type { KnowledgeBase } from '../client/client.ts'
import { manifestName, planOfExport } from './export-plan.ts'
import { planOfMarkdown } from './markdown-plan.ts'
import type {
  DocumentInput,
  NewIds,
  Plan,
  PlannedAttachment,
  PlannedBody,
  PlannedDocument,
  PlannedFolder,
} from './plan.ts'
import { accepted, Refused } from './refusals.ts'
import { type ImportSkipReason, type ImportSource, SourceError } from './source.ts'
import type { ImportState } from './state.ts'

/** The result of an import, which the command prints as JSON. */
export type ImportResult = {
  knowledge_base_id: number
  folders: number
  documents: number
  attachments: number
  /** Number of documents with a new id, because the id of the source was used before. */
  renamed: number
  /** Number of skipped files and folders, by reason. */
  skipped: Partial<Record<ImportSkipReason, number>>
  /** Number of documents of an earlier import whose source has changed, and of those whose source has not. */
  updated: number
  unchanged: number
  /** The documents of an earlier import that are left alone, with the reason. */
  left_alone: Failure[]
  /** What the service has changed in a text, such as HTML that it does not keep. */
  changed: Failure[]
  /** The relative addresses that lead to no file of the source. */
  leads_nowhere: Plan['deadLinks']
  /** The things that the service refused or the source could not give. Everything else was imported. */
  failed: Failure[]
}

type Failure = { name: string; reason: string }

/** The plan of one import, the client that calls the service, the state on disk and the display of progress. */
export type ImportRun = { plan: Plan; client: KnowledgeBase; state: ImportState; progress: Progress }

/** Is told how far an import is: parts of the work, each with a number of items, and messages. */
export type Progress = Pick<ProgressDisplay, 'begin' | 'step' | 'tell'>

const requestsAtOnce = 4

/** Plans an import: by the manifest of the source if it has one, else with a document for each Markdown file. */
export function planOf(source: ImportSource): Promise<Plan> {
  return source.names.has(manifestName) ? planOfExport(source) : planOfMarkdown(source)
}

/**
 * Carries out a plan through the API: the knowledge base and its folders, then all documents, then the files. The
 * bodies that name documents or files come last, since all ids are known by then. Skips the things that the state
 * already has.
 */
export async function runImport(context: ImportRun): Promise<ImportResult> {
  const { plan, state, progress } = context
  const steps = new Steps(context)
  const failed: Failure[] = []
  const each = lanes({ progress, failed })
  const before = new Set(state.documents.keys())
  if (state.knowledgeBase === null) await steps.makeKnowledgeBase(plan.name)
  const knowledgeBase = Number(state.knowledgeBase)
  await makeFolders({ ...context, steps, knowledgeBase })

  const files: Owned[] = []
  await each('documents', plan.documents, async (planned) => {
    const body = await planned.read()
    if (!state.documents.has(planned.key)) await steps.makeDocument(planned, { body, knowledgeBase })
    files.push(...body.attachments.map((attachment) => ({ key: attachment.key, attachment, owner: planned.key })))
  })
  await each('files', files, async ({ attachment, owner }) => {
    const document = state.documents.get(owner)
    if (document !== undefined) await steps.upload(attachment, document.id)
  })
  const open = plan.documents.filter(({ key }) => before.has(key) || state.documents.get(key)?.body === null)
  await each('links', open, (planned) => steps.writeBody(planned))
  const isInSource = new Set(plan.documents.map(({ key }) => key))
  for (const key of before) if (!isInSource.has(key)) steps.leave(key, 'it is no longer in the source')
  return { ...resultOf({ plan, state, failed, knowledgeBase }), ...steps.outcome }
}

type Owned = { key: string; attachment: PlannedAttachment; owner: string }

// Folders are made one by one, since a folder needs its parent.
async function makeFolders(context: ImportRun & { steps: Steps; knowledgeBase: number }): Promise<void> {
  const { plan, state, progress, steps, knowledgeBase } = context
  progress.begin('folders', plan.folders.length)
  for (const folder of plan.folders) {
    if (!state.folders.has(folder.key)) await steps.makeFolder(folder, knowledgeBase)
    progress.step()
  }
}

// A refused item does not stop the other items. Every other error ends the import.
function lanes({ progress, failed }: { progress: Progress; failed: Failure[] }) {
  return async <T extends { key: string }>(label: string, items: readonly T[], work: (item: T) => Promise<void>) => {
    const limit = pLimit(requestsAtOnce)
    progress.begin(label, items.length)
    const attempt = async (item: T) => {
      try {
        await work(item)
      } catch (error) {
        if (!(error instanceof Refused || error instanceof SourceError)) throw error
        failed.push({ name: item.key, reason: error.message })
        progress.tell(`not imported: ${JSON.stringify(item.key)}: ${error.message}`)
      }
      progress.step()
    }
    try {
      await Promise.all(items.map((item) => limit(() => attempt(item))))
    } finally {
      limit.clearQueue()
    }
  }
}

function resultOf(input: {
  plan: Plan
  state: ImportState
  failed: Failure[]
  knowledgeBase: number
}): Omit<ImportResult, keyof Steps['outcome']> {
  const { plan, state, failed, knowledgeBase } = input
  const hasOther = ({ key, id }: PlannedDocument) => {
    const made = state.documents.get(key)
    return made !== undefined && id !== null && made.id !== id
  }
  return {
    knowledge_base_id: knowledgeBase,
    folders: state.folders.size,
    documents: state.documents.size,
    attachments: state.attachments.size,
    renamed: plan.documents.filter(hasOther).length,
    skipped: countsOf(plan),
    leads_nowhere: plan.deadLinks,
    failed,
  }
}

function countsOf({ skipped }: Plan): ImportResult['skipped'] {
  const counts: ImportResult['skipped'] = {}
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}

/** Makes the things of a plan through the API, one a call, and notes each of them in the state. */
class Steps {
  readonly #client: KnowledgeBase
  readonly #state: ImportState
  readonly #ids: NewIds
  readonly #progress: Progress
  readonly outcome: Pick<ImportResult, 'updated' | 'unchanged' | 'left_alone' | 'changed'>

  constructor({ client, state, progress }: Omit<ImportRun, 'plan'>) {
    this.outcome = { updated: 0, unchanged: 0, left_alone: [], changed: [] }
    this.#client = client
    this.#progress = progress
    this.#state = state
    this.#ids = {
      document: (key) => state.documents.get(key)?.id,
      attachment: (key) => state.attachments.get(key)?.id,
    }
  }

  async makeKnowledgeBase(name: string): Promise<void> {
    const params = await this.#onceFor('knowledge-base')
    const { data } = await accepted(
      this.#client.api.POST('/knowledge-bases', { params, body: { name: shortened(name) } }),
    )
    await this.#state.note({ knowledgeBase: data.id })
  }

  async makeFolder({ key, parent, name }: PlannedFolder, knowledgeBase: number): Promise<void> {
    const location =
      parent === null ? { knowledge_base_id: knowledgeBase } : { parent_id: this.#state.folders.get(parent) }
    const params = await this.#onceFor(`folder ${key}`)
    const body = { name: shortened(name), ...location }
    const { data } = await accepted(this.#client.api.POST('/folders', { params, body }))
    await this.#state.note({ folder: key, id: data.id })
  }

  /** Makes a document with its body, or an empty document if the body names things whose ids are not known yet. */
  async makeDocument(planned: PlannedDocument, input: { body: PlannedBody; knowledgeBase: number }): Promise<void> {
    const { body, knowledgeBase } = input
    const content = body.refersToOthers ? null : body.content(this.#ids)
    const request = {
      ...planned.metadata,
      knowledge_base_id: knowledgeBase,
      ...(planned.folder !== null && { folder_id: this.#state.folders.get(planned.folder) }),
      ...(content !== null && { content }),
    }
    const { id, version, warnings } = await this.#createWithId(request, planned)
    this.#tellChanged(planned.key, warnings)
    const hashes = { body: content && hashOf(content), metadata: hashOf(planned.metadata) }
    await this.#state.note({ document: planned.key, id, version, ...hashes })
  }

  async upload(attachment: PlannedAttachment, documentId: string): Promise<void> {
    const { key, filename, contentType } = attachment
    const bytes = await attachment.read()
    const hash = createHash('sha256').update(bytes).digest('hex')
    if (this.#state.attachments.get(key)?.hash === hash) return
    const file = new File([new Uint8Array(bytes)], filename, { type: contentType })
    const idempotencyKey = await this.#keyFor(`attachment ${hash} ${key}`)
    const { id } = await accepted(this.#client.upload({ documentId, file }, { idempotencyKey }))
    await this.#state.note({ attachment: key, id, hash })
  }

  /**
   * Writes the body of a document that was made empty, or whose source has changed since an earlier import, unless
   * somebody has written the document since. This import itself may have written the document, if it was killed before
   * it noted the write.
   */
  async writeBody(planned: PlannedDocument): Promise<void> {
    const { key, metadata } = planned
    const made = this.#state.documents.get(key)
    if (made === undefined) return
    const body = (await planned.read()).content(this.#ids)
    const hashes = { body: hashOf(body), metadata: hashOf(metadata) }
    if (made.body === hashes.body && made.metadata === hashes.metadata) {
      this.outcome.unchanged += 1
      return
    }
    let { version } = made
    if (made.body !== hashes.body) {
      const params = { path: { id: made.id }, query: { ids: 'match' } as const, header: { 'If-Match': version } }
      const call = accepted(this.#client.api.PUT('/documents/{id}/content', { params, body }))
      const written = await call.catch(
        unless('version_conflict', ...(made.body === null ? [] : ['document_not_found'])),
      )
      if (written === undefined && made.body !== null)
        return this.leave(key, 'it was changed or deleted in the service')
      version = written?.data.version ?? version
      this.#tellChanged(key, written?.data.warnings)
    }
    if (made.metadata !== hashes.metadata) {
      const { title, tags, properties } = metadata
      const changes = { title, ...(tags && { tags }), ...(properties && { properties }) }
      await accepted(this.#client.api.PATCH('/documents/{id}', { params: { path: { id: made.id } }, body: changes }))
    }
    await this.#state.note({ document: key, id: made.id, version, ...hashes })
    if (made.body === null) return
    this.outcome.updated += 1
    this.#progress.tell(`updated: ${JSON.stringify(key)}`)
  }

  /** Tells that a document of an earlier import is left alone. */
  leave(name: string, reason: string): void {
    this.outcome.left_alone.push({ name, reason })
    this.#progress.tell(`left alone: ${JSON.stringify(name)}: ${reason}`)
  }

  #tellChanged(name: string, warnings: readonly { message: string }[] = []): void {
    for (const { message: reason } of warnings) {
      this.outcome.changed.push({ name, reason })
      this.#progress.tell(`changed: ${JSON.stringify(name)}: ${reason}`)
    }
  }

  // The service never gives out an id twice. If the id of the source is or was in use, the copy gets a new id.
  async #createWithId(body: DocumentInput, { id, key }: PlannedDocument) {
    const create = async (body: DocumentInput, name: string) =>
      (await accepted(this.#client.api.POST('/documents', { params: await this.#onceFor(name), body }))).data
    if (id === null) return create(body, `document ${key}`)
    const made = await create({ ...body, id }, `document ${key}`).catch(unless('document_id_conflict'))
    return made ?? create(body, `copy ${key}`)
  }

  // The idempotency key of the request that makes a thing. A request that is sent again after a crash gets the answer
  // of the first request. The name of a thing is hashed, since names in a source have any length and characters. Keys
  // are short and have ASCII characters only.
  async #keyFor(name: string): Promise<string> {
    const run = await this.#state.begin()
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 32)
    return `import-${run}-${hash}`
  }

  async #onceFor(name: string): Promise<{ header: { 'Idempotency-Key': string } }> {
    return { header: { 'Idempotency-Key': await this.#keyFor(name) } }
  }
}

// Passes over a refusal with one of the codes, which the import expects.
function unless(...codes: string[]): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof Refused && codes.includes(error.code))) throw error
  }
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}

// Names of knowledge bases and folders have 1 to 200 characters, so longer names are cut, and an empty name becomes
// `_`.
function shortened(name: string): string {
  return [...name.trim()].slice(0, 200).join('').trim() || '_'
}

/** Shows on a stream how far an import is: in place on a terminal, line by line in a log. */
export class ProgressDisplay {
  readonly #out: NodeJS.WriteStream
  #label = ''
  #done = 0
  #total = 0
  #shownAt = 0

  constructor(out: NodeJS.WriteStream) {
    this.#out = out
  }

  /** Begins a part of the work that has `total` items. */
  begin(label: string, total: number): void {
    this.#label = label
    this.#done = 0
    this.#total = total
  }

  /** Counts one item of the current part as done. */
  step(): void {
    this.#done += 1
    const isLast = this.#done === this.#total
    const pauseMs = this.#out.isTTY ? 100 : 5000
    if (!isLast && Date.now() - this.#shownAt < pauseMs) return
    this.#shownAt = Date.now()
    const text = `${this.#label}: ${this.#done} of ${this.#total}`
    this.#out.write(this.#out.isTTY && !isLast ? `\r${text}` : this.#out.isTTY ? `\r${text}\n` : `${text}\n`)
  }

  /** Prints a message. */
  tell(message: string): void {
    this.#out.write(`${this.#out.isTTY ? '\r' : ''}${message}\n`)
  }
}
