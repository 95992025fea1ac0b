import { isDeepStrictEqual } from 'node:util'
import { type KnowledgeBase, KnowledgeBaseError } from '../../client/client.ts'
import type { IdPolicy } from '../frame/command.ts'
import { type Body, bodyOf, folderOf, lossesOf, type ReadBody, readBodyOf, remoteOf } from './answers.ts'
import { areSameLabels, type Labels } from './labels.ts'
import type { Folder } from './paths.ts'
import type { RemoteDocument } from './sides.ts'
import type { SyncTarget } from './state.ts'

/**
 * The documents and folders of the service that a sync is about. `outside` has the ids of the other folders of the
 * knowledge base.
 */
export type Listing = {
  documents: Map<string, RemoteDocument>
  folders: Map<number, Folder>
  outside: ReadonlySet<number>
}

/**
 * A new document. `id` is chosen by the sync, so that a creation can be repeated. `folderId` finds or makes its folder.
 */
export type NewDocument = Labels & { id: string; folderId: () => Promise<number | null>; markdown: string }

/** What changes of a document; absent members stay. */
export type DocumentChange = {
  title?: string
  tags?: readonly string[]
  properties?: Labels['properties']
  folder_id?: number | null
}

// How often a call is repeated. A first sync of thousands of files waits for several windows of the rate limit.
const maxRetries = 12

type SyncServiceOptions = { target: SyncTarget; ids?: IdPolicy; signal?: AbortSignal | undefined }

/** The calls of a sync. Each call throws a KnowledgeBaseError when the service refuses it for another reason. */
export class SyncService {
  readonly #service: KnowledgeBase
  readonly #target: SyncTarget
  readonly #writing: { annotate: 'anchors'; ids: IdPolicy }
  readonly #signal: AbortSignal | undefined
  // The refusals by quotas that are used up, by the name of the quota.
  readonly #usedUp = new Map<unknown, unknown>()

  constructor(service: KnowledgeBase, { target, ids = 'match', signal }: SyncServiceOptions) {
    this.#service = service
    this.#target = target
    this.#writing = { annotate: 'anchors', ids }
    this.#signal = signal
  }

  /**
   * Lists the documents and folders below the synced folder. Throws the error 404 if the knowledge base or the synced
   * folder is gone.
   */
  async listing(): Promise<Listing> {
    for (let attempt = 1; ; attempt += 1) {
      const [all, folders] = await Promise.all([this.#documents(), this.#folders()])
      // A folder that was made or deleted between the two answers makes them contradict each other.
      const isConsistent = all.every(({ folder_id }) => folder_id === null || folders.has(folder_id))
      if (!isConsistent && attempt < 5) continue
      if (!isConsistent) throw new Error('The folders of the knowledge base change too fast to be listed.')
      const inside = insideOf(folders, this.#target)
      const documents = all.filter(({ folder_id }) => inside.has(folder_id))
      return {
        documents: new Map(documents.map((document) => [document.id, document])),
        folders: new Map([...folders].filter(([id]) => inside.has(id))),
        outside: new Set([...folders.keys()].filter((id) => !inside.has(id))),
      }
    }
  }

  /** A document; null if it is gone, or is not in the synced knowledge base any more. */
  async document(id: string): Promise<RemoteDocument | null> {
    const found = await absent(this.#service.api.GET('/documents/{id}', this.#with({ path: { id } })))
    if (found === null || found.data.knowledge_base_id !== this.#target.knowledge_base_id) return null
    return remoteOf(found.data, id)
  }

  /** The body of a document; null if the document is gone. */
  async body(id: string): Promise<Body | null> {
    const query = { format: 'markdown', annotate: 'anchors' } as const
    const found = await absent(this.#service.api.GET('/documents/{id}/content', this.#with({ path: { id }, query })))
    return found && bodyOf(found.data)
  }

  /** The bodies that a document has had since a version, the newest first, as far as its history has them. */
  async *bodiesSince(id: string, version: string): AsyncGenerator<Body> {
    const body = await this.body(id)
    if (body === null || body.version === version) return
    yield body
    const query = { format: 'markdown', annotate: 'anchors' } as const
    for await (const { seq } of this.#service.items('/documents/{id}/versions', this.#with({ path: { id } }))) {
      const call = this.#with({ path: { id, seq }, query })
      const found = await absent(
        this.#service.api.GET('/documents/{id}/versions/{seq}/content', call),
        'version_not_found',
      )
      if (found === null || found.data.version === version) return
      yield bodyOf(found.data)
    }
  }

  /** Creates a document. Returns it with what it cannot keep of the text, or null if the id was used before. */
  async create({ markdown, folderId, ...document }: NewDocument) {
    const { knowledge_base_id } = this.#target
    this.#requireRoom('documents')
    const folder_id = await folderId()
    const header = { 'Idempotency-Key': `sync-${document.id}` }
    const body = {
      ...document,
      tags: [...document.tags],
      knowledge_base_id,
      ...(folder_id !== null && { folder_id }),
      content: { format: 'markdown', content: markdown } as const,
    }
    try {
      const call = this.#service.api.POST('/documents', { ...this.#with({ header }), body })
      const { data } = await this.#withinQuota(call)
      return { document: remoteOf(data, document.id), losses: lossesOf(data.warnings) }
    } catch (error) {
      // The same key with another text: the document was created by a sync that was killed.
      if (isCode(error, 'document_id_conflict', 'idempotency_key_reused')) return null
      throw error
    }
  }

  /** The text as the service would write it if it were the body of the document. Nothing changes. */
  async rehearse(id: string, markdown: string): Promise<ReadBody> {
    const params = { path: { id }, query: { ...this.#writing, dry_run: true }, header: { 'If-Match': '*' } }
    const body = { format: 'markdown', content: markdown } as const
    const { data } = await this.#service.api.PUT('/documents/{id}/content', { ...this.#with(params), body })
    return readBodyOf(data)
  }

  /** Replaces a body. Returns null if the document is gone, or its body has another version by now. */
  async replace(id: string, { markdown, version }: Body): Promise<ReadBody | null> {
    const params = { path: { id }, query: this.#writing, header: { 'If-Match': version } }
    const body = { format: 'markdown', content: markdown } as const
    const call = this.#service.api.PUT('/documents/{id}/content', { ...this.#with(params), body })
    const found = await absent(call, 'version_conflict')
    return found && readBodyOf(found.data)
  }

  /**
   * Changes metadata and folder. Returns null if the document is gone. If the answer is lost, the document is looked
   * at. The change is made once more if the document is as before. `changed` means that somebody else has changed it.
   */
  async change(before: RemoteDocument, change: DocumentChange): Promise<RemoteDocument | 'changed' | null> {
    try {
      return await this.#change(before, change)
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error
    }
    const now = await this.document(before.id)
    if (now === null || isAlike(now, { ...before, ...change })) return now
    return isAlike(now, before) ? this.#change(before, change) : 'changed'
  }

  async #change(before: RemoteDocument, change: DocumentChange): Promise<RemoteDocument | null> {
    const { folder_id, properties, tags, ...rest } = change
    const place = folder_id === null ? { knowledge_base_id: this.#target.knowledge_base_id } : { folder_id }
    const body = {
      ...rest,
      ...(tags && { tags: [...tags] }),
      ...(properties && { properties_patch: patchOf(before.properties, properties) }),
      ...(folder_id !== undefined && place),
    }
    const call = this.#service.api.PATCH('/documents/{id}', { ...this.#with({ path: { id: before.id } }), body })
    const found = await absent(call)
    return found && remoteOf(found.data, before.id)
  }

  /** Moves a document to the trash. Returns false if its body has another version by now. */
  async trash(id: string, version: string): Promise<boolean> {
    const params = { path: { id }, header: { 'If-Match': version } }
    try {
      await this.#service.api.DELETE('/documents/{id}', this.#with(params))
      return true
    } catch (error) {
      if (isCode(error, 'version_conflict')) return false
      if (error instanceof KnowledgeBaseError && error.status === 404) return true
      throw error
    }
  }

  /**
   * Restores a document from the trash, into a folder or the root of the knowledge base. Returns null if the trash does
   * not have it as an entry of its own.
   */
  async restore(id: string, folderId: number | null): Promise<RemoteDocument | null> {
    const { knowledge_base_id } = this.#target
    const query = { knowledge_base_id, limit: 100 }
    for await (const entry of this.#service.items('/trash', this.#with({ query }))) {
      if (entry.type !== 'document' || entry.resource_id !== id) continue
      const body = folderId === null ? { knowledge_base_id } : { folder_id: folderId }
      try {
        await this.#service.api.POST('/trash/{id}/restore', { ...this.#with({ path: { id: entry.id } }), body })
      } catch (error) {
        if (!isCode(error, 'trash_not_found')) throw error
      }
      break
    }
    return this.document(id)
  }

  /** Creates a folder in a folder, or in the root of the knowledge base. */
  async createFolder(name: string, parentId: number | null): Promise<Folder> {
    const { knowledge_base_id } = this.#target
    const body = { name, ...(parentId === null ? { knowledge_base_id } : { parent_id: parentId }) }
    this.#requireRoom('folders')
    const { data } = await this.#withinQuota(this.#service.api.POST('/folders', { ...this.#with({}), body }))
    return folderOf(data)
  }

  /** Renames and moves a folder. If the answer is lost, the change is made once more unless the folder has it. */
  async changeFolder({ id, name, parent_id }: Folder): Promise<void> {
    const call = this.#with({ path: { id } })
    const change = () => this.#service.api.PATCH('/folders/{id}', { ...call, body: { name, parent_id } })
    try {
      await change()
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error
      const { data: now } = await this.#service.api.GET('/folders/{id}', call)
      if (now.name !== name || now.parent_id !== parent_id) await change()
    }
  }

  /** Forgets which quotas are used up. Until then, a refusal by a quota stands for all later creations. */
  forgetQuotas(): void {
    this.#usedUp.clear()
  }

  #requireRoom(quota: 'documents' | 'folders'): void {
    if (this.#usedUp.has(quota)) throw this.#usedUp.get(quota)
  }

  async #withinQuota<T>(creation: Promise<T>): Promise<T> {
    try {
      return await creation
    } catch (error) {
      if (isCode(error, 'quota_exceeded')) this.#usedUp.set((error as KnowledgeBaseError).details?.['quota'], error)
      throw error
    }
  }

  async #folders(): Promise<Map<number, Folder>> {
    const params = { path: { id: this.#target.knowledge_base_id } }
    const { data } = await this.#service.api.GET('/knowledge-bases/{id}/tree', this.#with(params))
    const folders = new Map<number, Folder>()
    const collect = (nodes: readonly TreeNode[]) => {
      for (const node of nodes) {
        if (node.type !== 'folder') continue
        folders.set(node.id, folderOf(node))
        collect(node.children ?? [])
      }
    }
    collect(data.children as readonly TreeNode[])
    return folders
  }

  async #documents(): Promise<RemoteDocument[]> {
    const { knowledge_base_id } = this.#target
    const query = { knowledge_base_id, include_variants: true, limit: 100 }
    const documents: RemoteDocument[] = []
    for await (const item of this.#service.items('/documents', this.#with({ query }))) documents.push(remoteOf(item))
    return documents
  }

  #with<P>(params: P) {
    return { params, maxRetries, ...(this.#signal && { signal: this.#signal }) }
  }
}

// True if an error is a refusal with one of the codes.
function isCode(error: unknown, ...codes: string[]): boolean {
  return error instanceof KnowledgeBaseError && codes.includes(error.code)
}

// True if the service may have carried out the call that has failed.
function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof KnowledgeBaseError && error.outcomeUnknown
}

function isAlike(one: RemoteDocument, other: RemoteDocument): boolean {
  return areSameLabels(one, other) && one.folder_id === other.folder_id
}

// The ids of the synced folder and of all folders below it; null is the root of the knowledge base.
function insideOf(folders: ReadonlyMap<number, Folder>, { folder_id: root }: SyncTarget): Set<number | null> {
  if (root !== null && !folders.has(root)) {
    const message = `The folder ${root} is not there any more.`
    throw new KnowledgeBaseError(message, { code: 'folder_not_found', status: 404 })
  }
  const children = Map.groupBy(folders.values(), ({ parent_id }) => parent_id)
  const inside = new Set<number | null>([root])
  for (const id of inside) for (const child of children.get(id) ?? []) inside.add(child.id)
  return inside
}

type TreeNode = Folder & { type: string; children?: readonly TreeNode[] }

// The answer, or null if the resource is gone or the call was refused with one of the codes.
async function absent<T>(answer: Promise<T>, ...codes: string[]): Promise<T | null> {
  try {
    return await answer
  } catch (error) {
    if (isCode(error, 'document_not_found', ...codes)) return null
    throw error
  }
}

// The JSON merge patch that leads from some properties to others.
function patchOf(before: Labels['properties'], after: Labels['properties']) {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  const changed = [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]))
  return Object.fromEntries(changed.map((name) => [name, after[name] ?? null]))
}
