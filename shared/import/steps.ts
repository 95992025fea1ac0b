import { createHash } from 'node:crypto'
import type { NewIds, PlannedAttachment, PlannedBody, PlannedDocument, PlannedFolder } from './plan.ts'
import type { Answer, Request, ServiceClient } from './service-client.ts'
import type { ImportState } from './state.ts'

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
