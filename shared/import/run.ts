import { createHash } from 'node:crypto'
import pLimit from 'p-limit'
import { manifestName, planOfExport } from './export-plan.ts'
import { planOfMarkdown } from './markdown-plan.ts'
import type { NewIds, Plan, PlannedAttachment, PlannedBody, PlannedDocument, PlannedFolder } from './plan.ts'
import type { Answer, Request, ServiceClient } from './service-client.ts'
import { type SkipReason, type Source, SourceError } from './source.ts'
import type { ImportState } from './state.ts'

/** What an import has come to. */
export type ImportResult = {
  knowledge_base_id: number
  folders: number
  documents: number
  attachments: number
  /** Documents that have another id than in the source, since that one was used before. */
  renamed: number
  /** How many files and folders of the source were skipped, by reason. */
  skipped: Partial<Record<SkipReason, number>>
  /** What the service refused or the source did not give; the rest was imported. */
  failed: Failure[]
}

type Failure = { name: string; reason: string }

/** What an import works with. */
export type ImportContext = { plan: Plan; client: ServiceClient; state: ImportState; progress: Progress }

/**
 * Does what a plan says, through the API: the knowledge base and its folders, then every document, then the files, then
 * the bodies that name documents or files, whose ids are known only by then. What the state has is not done again.
 */
export async function runImport(context: ImportContext): Promise<ImportResult> {
  const { plan, state, progress } = context
  const steps = new Steps(context)
  const failed: Failure[] = []
  const each = lanes({ progress, failed })
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
    if (document === undefined || state.attachments.has(attachment.key)) return
    await steps.upload(attachment, document.id)
  })
  const empty = plan.documents.filter(({ key }) => state.documents.get(key)?.written === false)
  await each('links', empty, (planned) => steps.writeBody(planned))
  return resultOf({ plan, state, failed, knowledgeBase })
}

type Owned = { key: string; attachment: PlannedAttachment; owner: string }

// One by one, since each stands in one that came before.
async function makeFolders(context: ImportContext & { steps: Steps; knowledgeBase: number }): Promise<void> {
  const { plan, state, progress, steps, knowledgeBase } = context
  progress.begin('folders', plan.folders.length)
  for (const folder of plan.folders) {
    if (!state.folders.has(folder.key)) await steps.makeFolder(folder, knowledgeBase)
    progress.step()
  }
}

/** How many requests are on their way at a time. */
const atOnce = 4

// What one item is refused for does not keep the others from being done; all else ends the import.
function lanes({ progress, failed }: { progress: Progress; failed: Failure[] }) {
  return async <T extends { key: string }>(label: string, items: readonly T[], work: (item: T) => Promise<void>) => {
    const limit = pLimit(atOnce)
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

function resultOf(input: { plan: Plan; state: ImportState; failed: Failure[]; knowledgeBase: number }): ImportResult {
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
    failed,
  }
}

function countsOf({ skipped }: Plan): ImportResult['skipped'] {
  const counts: ImportResult['skipped'] = {}
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1
  return counts
}

/** What the service refused a single thing for; the rest of an import goes on. */
export class Refused extends Error {}

/** Makes the things of a plan through the API, one a call, and notes each in the state. */
export class Steps {
  readonly #client: ServiceClient
  readonly #state: ImportState
  readonly #ids: NewIds

  constructor({ client, state }: { client: ServiceClient; state: ImportState }) {
    this.#client = client
    this.#state = state
    this.#ids = {
      document: (key) => state.documents.get(key)?.id,
      attachment: (key) => state.attachments.get(key),
    }
  }

  async makeKnowledgeBase(name: string): Promise<void> {
    const { id } = await this.#create({ path: '/knowledge-bases', json: { name: shortened(name) } }, 'knowledge-base')
    await this.#state.note({ knowledgeBase: Number(id) })
  }

  async makeFolder({ key, parent, name }: PlannedFolder, knowledgeBase: number): Promise<void> {
    const place =
      parent === null ? { knowledge_base_id: knowledgeBase } : { parent_id: this.#state.folders.get(parent) }
    const { id } = await this.#create({ path: '/folders', json: { name: shortened(name), ...place } }, `folder ${key}`)
    await this.#state.note({ folder: key, id: Number(id) })
  }

  /** Makes a document with its body, or empty when that names others, whose ids are not known yet. */
  async makeDocument(planned: PlannedDocument, input: { body: PlannedBody; knowledgeBase: number }): Promise<void> {
    const { body, knowledgeBase } = input
    const json = {
      ...planned.metadata,
      knowledge_base_id: knowledgeBase,
      ...(planned.folder !== null && { folder_id: this.#state.folders.get(planned.folder) }),
      ...(!body.refersToOthers && { content: body.content(this.#ids) }),
    }
    const { id, version } = await this.#createWithId({ path: '/documents', json }, planned)
    const written = !body.refersToOthers
    await this.#state.note({ document: planned.key, id: String(id), version: String(version), written })
  }

  async upload(attachment: PlannedAttachment, documentId: string): Promise<void> {
    const bytes = new Uint8Array(await attachment.read())
    const form = () => {
      const parts = new FormData()
      parts.set('document_id', documentId)
      parts.set('file', new Blob([bytes], { type: attachment.contentType }), attachment.filename)
      return parts
    }
    const { id } = await this.#create({ path: '/attachments', form }, `attachment ${attachment.key}`)
    await this.#state.note({ attachment: attachment.key, id: String(id) })
  }

  /**
   * Writes the body of a document that was made empty, unless somebody has written it since: that may be this import,
   * killed before it noted so.
   */
  async writeBody(planned: PlannedDocument): Promise<void> {
    const made = this.#state.documents.get(planned.key)
    if (made === undefined) return
    const answer = await this.#client.send({
      method: 'PUT',
      path: `/documents/${made.id}/content`,
      json: (await planned.read()).content(this.#ids),
      ifMatch: `"${made.version}"`,
    })
    if (answer.body.error?.code !== 'version_conflict') dataOf(answer)
    await this.#state.note({ document: planned.key, ...made, written: true })
  }

  // Ids are never used twice, anywhere: when the original still has it, or had it, the copy gets a new one.
  async #createWithId(request: { path: string; json: object }, { id, key }: PlannedDocument) {
    const wanted = id === null ? {} : { id }
    const first = await this.#post({ ...request, json: { ...request.json, ...wanted } }, `document ${key}`)
    if (first.body.error?.code !== 'document_id_conflict') return dataOf(first)
    return this.#create(request, `copy ${key}`)
  }

  async #create(request: Pick<Request, 'path' | 'json' | 'form'>, name: string) {
    return dataOf(await this.#post(request, name))
  }

  // Sent with the same key again after a crash, the request is answered with what it made before. Names in the source can
  // be of any length and characters; keys cannot.
  async #post(request: Pick<Request, 'path' | 'json' | 'form'>, name: string): Promise<Answer> {
    const run = await this.#state.begin()
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 32)
    return this.#client.send({ method: 'POST', ...request, key: `import-${run}-${hash}` })
  }
}

function dataOf({ status, body }: Answer): Record<string, unknown> {
  if (status >= 200 && status < 300 && body.data !== undefined) return body.data
  throw new Refused(`${status} ${body.error?.code ?? ''}: ${body.error?.message ?? 'no reason given'}`)
}

// Names of knowledge bases and folders have 1 to 200 characters.
function shortened(name: string): string {
  return [...name.trim()].slice(0, 200).join('').trim() || '_'
}

/** Tells a person how far an import is, on standard error: in place on a terminal, line by line in a log. */
export class Progress {
  readonly #out: NodeJS.WriteStream
  #label = ''
  #done = 0
  #total = 0
  #shownAt = 0

  constructor(out: NodeJS.WriteStream) {
    this.#out = out
  }

  /** Begins a part of the work. */
  begin(label: string, total: number): void {
    this.#label = label
    this.#done = 0
    this.#total = total
  }

  /** One more is done. */
  step(): void {
    this.#done += 1
    const isLast = this.#done === this.#total
    const pause = this.#out.isTTY ? 100 : 5000
    if (!isLast && Date.now() - this.#shownAt < pause) return
    this.#shownAt = Date.now()
    const text = `${this.#label}: ${this.#done} of ${this.#total}`
    this.#out.write(this.#out.isTTY && !isLast ? `\r${text}` : this.#out.isTTY ? `\r${text}\n` : `${text}\n`)
  }

  /** Something that the person should know. */
  tell(message: string): void {
    this.#out.write(`${this.#out.isTTY ? '\r' : ''}${message}\n`)
  }
}

/** What is to be made of a source: what its manifest says, or else a document of each Markdown file. */
export function planOf(source: Source): Promise<Plan> {
  return source.names.has(manifestName) ? planOfExport(source) : planOfMarkdown(source)
}
