import { setTimeout as sleep } from 'node:timers/promises'
import pLimit from 'p-limit'
import { KnowledgeBaseError } from '../../client/client.ts'
import { newId } from '../../schema/ids.ts'
import { applyAction, type Conflict, type Loss } from './apply.ts'
import { headingsIn } from './blocks.ts'
import { BrokenFrontMatter } from './document-merge.ts'
import { FolderIds } from './folder-ids.ts'
import { namesOtherHeading } from './links.ts'
import { type Problem, scanFolder, UnusableFile } from './local-scan.ts'
import { LocalWriter } from './local-write.ts'
import { pairFiles } from './pairs.ts'
import type { Folder } from './paths.ts'
import { type Action, type Plan, planSync } from './plan.ts'
import type { Listing, SyncService } from './service.ts'
import type { Entry, LocalFile, PlanInput, RemoteDocument } from './sides.ts'
import type { SyncState } from './state.ts'

/**
 * What a session works with. `mayDelete` allows a round to delete more than a tenth. `graceMs` is the time for which a
 * file has to be gone before its document goes to the trash, in milliseconds.
 */
export type SessionOptions = {
  graceMs?: number
  root: string
  state: SyncState
  service: SyncService
  mayDelete: boolean
  onProgress?: (done: number, total: number) => void
}

/** A document that could not be synced. The other documents were. */
export type Refusal = { path: string; code: string; message: string }

/** The result of a round. */
export type RoundResult = {
  /** The actions that were carried out. */
  done: Action[]
  conflicts: Conflict[]
  /** What the service cannot keep. */
  losses: Loss[]
  /** The paths of files that have got what a program has written into the files before them. */
  rescued: string[]
  failed: Refusal[]
  /** The actions that another round has to repeat, because a side has changed during this round. */
  later: Refusal[]
  /** Deletions that were left out, because there are more of them than a tenth of all documents. */
  withheld: Action[]
  /** The paths of files that are left alone. */
  problems: Problem[]
}

/** A plan that is not carried out, with the files that would be left alone. */
export type Preview = { plan: Plan; problems: Problem[] }

const atOnce = 6
// How long a deletion counts towards the tenth of all documents that may be deleted.
const deletionMs = 60 * 60 * 1000

/** The result of a round that has not begun. */
export function newResult(): RoundResult {
  return { done: [], conflicts: [], losses: [], rescued: [], failed: [], later: [], withheld: [], problems: [] }
}

/** True if another round has something to do already. */
export function isUnfinished(result: RoundResult | undefined): boolean {
  return result !== undefined && result.later.length + result.rescued.length > 0
}

/** Syncs a folder round by round, and remembers what it knows of both sides from one round to the next. */
export class SyncSession {
  readonly #options: SessionOptions
  readonly #files: Map<string, LocalFile>
  #listing: Listing | null = null
  #deleted: { type: Action['type']; at: number }[] = []
  #directories: ReadonlySet<string> = new Set()

  constructor(options: SessionOptions) {
    this.#options = options
    const { entries } = options.state
    this.#files = new Map(
      [...entries.values()].map(({ id, path, hash, stat }) => [
        path,
        { path, hash, stat, documentId: id, title: null },
      ]),
    )
  }

  /** What a round would do now. */
  async preview(): Promise<Preview> {
    const { plan, problems } = await this.#plan()
    return { plan, problems }
  }

  /**
   * Carries out one round. Throws when the service cannot be used at all; what was done by then is noted, and is in
   * `result`.
   */
  async round(result: RoundResult = newResult()): Promise<RoundResult> {
    const { root, state, service } = this.#options
    const { plan, problems, listing, asked } = await this.#plan()
    service.forgetQuotas()
    const writer = new LocalWriter(root)
    const onMade = (folder: Folder, path: string) => {
      listing.folders.set(folder.id, folder)
      state.note({ folder: { ...folder, path } })
    }
    const folders = new FolderIds(service, { directories: plan.directories, onMade })
    const { actions, withheld } = plan
    Object.assign(result, { withheld, problems })
    for (const { id, path } of plan.renamedFolders) {
      const folder = await folders.rename(id, path).catch((error) => refusalOf(error, { path }))
      if ('message' in folder) result.failed.push(folder)
      else listing.folders.set(id, folder)
    }
    const work = { root, state, service, writer, folders, places: plan.places }
    // The ids are noted before any document exists, since other documents may link to them. After a crash the documents
    // are found again by these ids.
    for (const action of actions) {
      if (action.type !== 'create' || state.creating.get(action.path) === action.id) continue
      state.note({ creating: { path: action.path, id: action.id } })
    }
    // Files are deleted first, since new files may take their names. Documents are deleted last.
    const parts = Map.groupBy(actions, turnOf)
    const unfinished = new Set<string>()
    let done = 0
    const one = async (action: Action) => {
      const outcome = await applyAction(work, action).catch((error) => refusalOf(error, action))
      this.#options.onProgress?.(++done, actions.length)
      if ('message' in outcome || outcome.end === 'later') {
        for (const path of pathsOf(action)) unfinished.add(path)
      }
      if ('message' in outcome) return void result.failed.push(outcome)
      this.#learn(listing, action, outcome.document)
      if (outcome.loss !== undefined) result.losses.push(outcome.loss)
      if (outcome.conflict !== undefined) result.conflicts.push(outcome.conflict)
      if (outcome.end === 'done') {
        result.done.push(action)
        if (action.type === 'trash' || action.type === 'remove')
          this.#deleted.push({ type: action.type, at: Date.now() })
        if (action.type === 'restore') result.later.push(repetitionOf(action, 'its document was in the trash'))
      } else result.later.push(repetitionOf(action, outcome.reason))
    }
    try {
      await inLanes(parts.get(0) ?? [], one)
      await inLanes(parts.get(1) ?? [], one)
      const { deletions, returned } = await this.#stillGone(parts.get(2) ?? [], asked)
      for (const action of returned) result.later.push(repetitionOf(action, 'the file is there again'))
      await inLanes(deletions, one)
      if (result.done.length > 0) {
        for (const entry of this.#relinked(plan, unfinished)) result.later.push(repetitionOf(entry, 'a heading is new'))
      }
      this.#noteUnchanged(plan)
      this.#noteFolders(plan, listing, unfinished)
    } finally {
      const { rescued, copies } = await writer.settle(state)
      result.rescued.push(...rescued)
      for (const copy of copies) {
        result.conflicts.push({ path: copy, copy, document_id: '', blocks: [], labels: [], losses: [] })
      }
      state.tidy()
    }
    if (result.later.length > 0) this.#listing = null
    return result
  }

  /** The folders of the last round, without the folder itself. */
  get directories(): ReadonlySet<string> {
    return this.#directories
  }

  /** Forgets what the service was like, so that the next round lists it anew. */
  relist(): void {
    this.#listing = null
  }

  /** Takes over that a document is as given, or gone. */
  learn(id: string, document: RemoteDocument | null): void {
    if (this.#listing === null) return
    const { documents, folders } = this.#listing
    if (document === null || this.isOutside(document.folder_id)) documents.delete(id)
    else if (document.folder_id === this.#root || folders.has(document.folder_id ?? 0)) documents.set(id, document)
    else this.#listing = null
  }

  /** True for a folder that is known not to be synced; null is the root of the knowledge base. */
  isOutside(folderId: number | null): boolean {
    if (folderId === null) return this.#root !== null
    return this.#listing?.outside.has(folderId) ?? false
  }

  /** The document as the session knows it; undefined if it does not know it. */
  known(id: string): RemoteDocument | undefined {
    return this.#listing?.documents.get(id)
  }

  get #root(): number | null {
    return this.#options.state.target.folder_id
  }

  async #plan(): Promise<{ plan: Plan; problems: Problem[]; listing: Listing; asked: PlanInput }> {
    const { root, state, service, mayDelete } = this.#options
    this.#listing ??= await service.listing()
    const listing = this.#listing
    const files = scanFolder(root, this.#files)
    this.#directories = files.directories
    this.#files.clear()
    for (const [path, file] of files.files) this.#files.set(path, file)
    const { entries, gone, creating, folders: knownFolders } = state
    this.#deleted = this.#deleted.filter(({ at }) => at > Date.now() - deletionMs)
    const countOf = (wanted: Action['type']) => this.#deleted.filter(({ type }) => type === wanted).length
    const deleted = { documents: countOf('trash'), files: countOf('remove') }
    const headingsOf = this.#headingsOf
    const asked = {
      headingsOf,
      gone,
      entries,
      creating,
      knownFolders,
      files,
      ...listing,
      root: this.#root,
      mayDelete,
      deleted,
      newId: () => newId('doc'),
    }
    return { plan: planSync(asked), problems: files.problems, listing, asked }
  }

  // The headings of the last sync. Bodies are read once.
  readonly #headings = new Map<string, ReadonlyMap<string, string>>()
  readonly #headingsOf = (id: string): ReadonlyMap<string, string> => {
    const { state } = this.#options
    const hash = state.entries.get(id)?.body
    if (hash === undefined) return new Map()
    const known = this.#headings.get(hash) ?? headingsIn(state.text(hash) ?? '')
    this.#headings.set(hash, known)
    return known
  }

  // A document may have got a heading, or another heading, after the files that link to it were read in this round.
  #relinked({ places }: Plan, unfinished: ReadonlySet<string>): Entry[] {
    const { entries } = this.#options.state
    return [...entries.values()].filter(
      (entry) => !unfinished.has(entry.path) && namesOtherHeading(entry, entry.path, places),
    )
  }

  #learn(listing: Listing, action: Action, document: RemoteDocument | null | undefined): void {
    if (document) listing.documents.set(document.id, document)
    else if (document === null && 'id' in action && action.id !== null) listing.documents.delete(action.id)
  }

  // Notes times and paths that have changed without the text, so that the next scan need not read the file.
  #noteUnchanged({ unchanged }: Plan): void {
    const { state } = this.#options
    for (const { entry, file } of unchanged) {
      const { path, stat } = file
      // A write that was begun before the file was as it is now is of no use any more.
      const isNews = entry.path !== path || entry.stat !== stat || state.writing.has(entry.id)
      if (isNews) state.note({ entry: { ...entry, path, stat } })
    }
  }

  // A program that saves or switches branches may take a file away for a moment. So the folder is looked at once more
  // before a document goes to the trash.
  async #stillGone(actions: readonly Action[], asked: PlanInput): Promise<{ deletions: Action[]; returned: Action[] }> {
    const { root, graceMs = 0 } = this.#options
    const trash = actions.filter(({ type }) => type === 'trash')
    if (trash.length === 0) return { deletions: [...actions], returned: [] }
    await sleep(graceMs)
    const files = scanFolder(root, this.#files)
    const { entries } = this.#options.state
    const found = new Set(pairFiles({ ...asked, entries, files }).pairs.map(({ id }) => id))
    const isBack = (action: Action) =>
      action.type === 'trash' && (found.has(action.id) || files.isUnreadable(action.path))
    const [returned = [], deletions = []] = [true, false].map((wanted) =>
      actions.filter((action) => isBack(action) === wanted),
    )
    return { deletions, returned }
  }

  // A new directory is noted only when the files of its folder are there. Until then a file in the old directory counts
  // as not moved.
  #noteFolders({ directories }: Plan, listing: Listing, unfinished: ReadonlySet<string>): void {
    const { state } = this.#options
    const isWaiting = (directory: string) => [...unfinished].some((path) => path.startsWith(`${directory}/`))
    for (const { id, name, parent_id } of listing.folders.values()) {
      const path = directories.get(id)
      const known = state.folders.get(id)
      const isKnown = known?.path === path && known?.name === name && known?.parent_id === parent_id
      if (path === undefined || isKnown || isWaiting(path) || (known && isWaiting(known.path))) continue
      state.note({ folder: { id, name, parent_id, path } })
    }
    for (const id of state.folders.keys()) if (!listing.folders.has(id)) state.note({ forgetFolder: id })
  }
}

// The path of an action, and the path of the file before it.
function pathsOf(action: Action): string[] {
  return [action.path, ...(action.type === 'update' ? [action.from] : [])]
}

function repetitionOf({ path }: { path: string }, reason = 'somebody else changes it all the time'): Refusal {
  return { path, code: 'not_in_step', message: `This could not be finished: ${reason}.` }
}

function turnOf({ type }: Action): number {
  if (type === 'remove') return 0
  return type === 'trash' || type === 'forget' ? 2 : 1
}

// After an error no action begins. The error is thrown when the actions that had begun have ended.
async function inLanes(actions: readonly Action[], work: (action: Action) => Promise<unknown>): Promise<void> {
  const limit = pLimit(atOnce)
  const errors: unknown[] = []
  const one = async (action: Action) => {
    if (errors.length === 0) await work(action).catch((error: unknown) => errors.push(error))
  }
  await Promise.all(actions.map((action) => limit(() => one(action))))
  if (errors.length > 0) throw errors[0]
}

// What the disk refuses for one file or directory.
const diskCodes = new Set(['EACCES', 'EPERM', 'EISDIR', 'EBUSY', 'ENAMETOOLONG', 'EXDEV', 'EROFS', 'ENOSPC', 'EIO'])
const finalCodes = new Set(['insufficient_scope', 'knowledge_base_not_found'])

// A refusal of one document does not stop the others. Rethrows an error after which no action can succeed.
function refusalOf(error: unknown, { path }: { path: string }): Refusal {
  if (error instanceof BrokenFrontMatter) return { path, code: 'invalid_front_matter', message: error.message }
  if (error instanceof UnusableFile) return { path, code: error.reason, message: error.message }
  const { code: diskCode = '', message: diskMessage } = error as NodeJS.ErrnoException
  if (diskCodes.has(diskCode)) return { path, code: diskCode, message: diskMessage }
  if (!(error instanceof KnowledgeBaseError) || finalCodes.has(error.code)) throw error
  const { status = 0, code, message, reason, details } = error
  if (status < 400 || status === 401 || status >= 500) throw error
  if (code !== 'quota_exceeded') return { path, code, message }
  return { path, code, message: `${reason} (${details?.['used']} of ${details?.['limit']} ${details?.['quota']})` }
}
