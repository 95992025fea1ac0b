import { type Api, apiOf, requireSegment } from './api.ts'
import { type BlockChange, type Edited, type EditOptions, editBlocks } from './edits.ts'
import { type EventsOptions, eventsOf, type StreamEvent } from './events.ts'
import { type Attachment, type Download, download, type Upload, upload } from './files.ts'
import { type Job, type SummaryJob, type TranslationJob, type WaitOptions, waitForJob } from './jobs.ts'
import { type ListInput, type ListItem, type ListPage, type ListPath, pagesOf } from './pages.ts'
import type { CallOptions, Connection, Retry } from './transport.ts'

export type { Answer, Api, Input, Method, Operation, Path } from './api.ts'
export type { Block, BlockChange, Edited, EditOptions, NodeInput } from './edits.ts'
export { type ErrorCode, KnowledgeBaseError } from './errors.ts'
export type { AuthRevoked, DocumentEvent, EventsOptions, StreamEvent, SyncRequired } from './events.ts'
export type { Attachment, Download, Upload } from './files.ts'
export type { Job, SummaryJob, TranslationJob, WaitOptions } from './jobs.ts'
export type { components, operations, paths } from './openapi.d.ts'
export type { ListInput, ListItem, ListPage, ListPath } from './pages.ts'
export type { CallOptions, Retry } from './transport.ts'

/** The options of a client. */
export type KnowledgeBaseOptions = {
  /** The address of the service, such as `https://documents.example`. */
  origin: string
  /** An API token, or a function that returns the present one. Needed by every call but those of the device flow. */
  token?: string | (() => string | Promise<string>) | undefined
  /** The name of the program for the audit log: `<program>/<version> (<name>)`, with the word `agent` for an agent. */
  userAgent?: string | undefined
  /** The function that sends requests; by default the `fetch` of the platform. */
  fetch?: typeof globalThis.fetch | undefined
  /** Milliseconds for each attempt of a call; 120,000 by default. */
  timeout?: number | undefined
  /** How often a call is repeated at most; 4 by default. */
  maxRetries?: number | undefined
  /** The longest pause between two attempts in milliseconds; 60,000 by default. */
  maxRetryDelay?: number | undefined
  /** Is called before each pause. */
  onRetry?: ((retry: Retry) => void) | undefined
}

/** A client of the service. Its methods throw a KnowledgeBaseError, or the reason of the signal that aborted them. */
export class KnowledgeBase {
  /** The address of the service. */
  readonly origin: string
  /** Every operation of the API by its method and path: `kb.api.GET('/documents/{id}', …)`. */
  readonly api: Api
  readonly #connection: Connection

  /** Throws a TypeError for an origin or a token that cannot be one. */
  constructor(options: KnowledgeBaseOptions) {
    this.origin = originOf(options.origin)
    const { token, fetch } = options
    this.#connection = {
      address: `${this.origin}/api/v1`,
      token:
        token === undefined ? undefined : async () => checkedToken(typeof token === 'string' ? token : await token()),
      userAgent: options.userAgent ?? 'knowledge-base-documents-client/1',
      fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
      timeout: options.timeout ?? 120_000,
      maxRetries: options.maxRetries ?? 4,
      maxRetryDelay: options.maxRetryDelay ?? 60_000,
      onRetry: options.onRetry ?? (() => {}),
    }
    if (typeof token === 'string') checkedToken(token)
    this.api = apiOf(this.#connection)
  }

  /** The pages of a list one after the other: `for await (const { data } of kb.pages('/documents')) …`. */
  pages<P extends ListPath>(path: P, ...[input]: OptionalIfEmpty<ListInput<P>>): AsyncGenerator<ListPage<P>, void> {
    return pagesOf(this.api, path, input)
  }

  /** The items of a list one after the other: `for await (const document of kb.items('/documents')) …`. */
  async *items<P extends ListPath>(
    path: P,
    ...input: OptionalIfEmpty<ListInput<P>>
  ): AsyncGenerator<ListItem<P>, void> {
    for await (const { data } of this.pages(path, ...input)) yield* data as unknown as ListItem<P>[]
  }

  /**
   * Waits until a job has ended, however it ends: `status` is then `succeeded`, `failed` or `obsolete`. Throws the
   * error `timeout` when the job has not ended in time.
   */
  waitForJob(job: SummaryJob, options?: WaitOptions<SummaryJob>): Promise<SummaryJob>
  waitForJob(job: TranslationJob, options?: WaitOptions<TranslationJob>): Promise<TranslationJob>
  waitForJob(id: string, options?: WaitOptions<Job>): Promise<Job>
  waitForJob(job: Job | string, options: WaitOptions<SummaryJob & TranslationJob> = {}): Promise<Job> {
    return waitForJob(this.api, typeof job === 'string' ? job : job.id, options)
  }

  /**
   * The changes of all documents as they happen. A broken connection is opened again behind the last event, so no event
   * is missed and none comes twice. `sync.required` and `auth.revoked` are events, too; the latter is the last one.
   */
  events(options: EventsOptions = {}): AsyncGenerator<StreamEvent, void, undefined> {
    return eventsOf(this.#connection, options)
  }

  /** Uploads a file to a document. A repetition makes no second attachment. */
  upload(file: Upload, options: CallOptions & { idempotencyKey?: string | undefined } = {}): Promise<Attachment> {
    return upload(this.#connection, file, options)
  }

  /**
   * Downloads the file of an attachment. `ifNoneMatch` takes the version that the caller has; the error `not_modified`
   * says that the file is still the same.
   */
  async download(
    attachmentId: string,
    options: CallOptions & { ifNoneMatch?: string | undefined } = {},
  ): Promise<Download> {
    requireSegment('attachmentId', attachmentId)
    return download(this.#connection, `/attachments/${encodeURIComponent(attachmentId)}`, options)
  }

  /** Downloads a knowledge base as a zip of all its documents and files. */
  downloadExport(knowledgeBaseId: number, options: CallOptions = {}): Promise<Download> {
    return download(this.#connection, `/knowledge-bases/${knowledgeBaseId}/export`, options)
  }

  /**
   * Edits a document by a function of its blocks, each guarded by its own hash. When somebody else has changed the same
   * block meanwhile, the function is called again with the new block. Edits elsewhere in the document do not disturb.
   * Throws `version_conflict` when the same block keeps changing.
   */
  edit(documentId: string, change: BlockChange, options: EditOptions = {}): Promise<Edited> {
    return editBlocks(this.api, documentId, { ...options, change })
  }
}

type OptionalIfEmpty<T> = Record<never, never> extends T ? [T?] : [T]

// A message never repeats what was given, since an address may contain a password.
function originOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : null
  if (url === null || !['http:', 'https:'].includes(url.protocol)) {
    throw new TypeError('origin must be an http(s) address, such as https://documents.example')
  }
  if (url.username !== '' || url.password !== '') throw new TypeError('origin must not contain a user or a password')
  return url.origin
}

function checkedToken(token: string): string {
  if (!/^[\x21-\x7e]+$/.test(token)) throw new TypeError('token must be one word of visible ASCII characters')
  return token
}
