import * as Y from 'yjs'
import { type ClientUpdate, readUpdate } from './client-update.ts'
import { bodyFragment } from './encoding.ts'
import { type IdRange, IdSet } from './id-ranges.ts'
import { PeerIds } from './peer-ids.ts'
import { liveLine, typeOf } from './rescue-line.ts'
import { isLive, type MemoryLimits, type Removed, RemovedBlocks } from './rescue-memory.ts'
import {
  blocksIn,
  isChange,
  isLateBlock,
  type LateContent,
  type Look,
  placeLate,
  type Removal,
  readLate,
  removedIn,
  sizeOf,
} from './rescue-read.ts'
import { type LateChanges, writeLate } from './rescue-write.ts'
import { itemOf, keep, keptAside, leaveFormats, structsIn } from './yjs-internals.ts'

/**
 * Where an update came from: an editor of this process, the database, or an editor of another process. Text is rescued
 * by the process to which its editor is connected. When that process leaves and has not heard of the removal, the
 * process of the editor who has removed the block rescues the text.
 */
export type UpdateSource = 'editor' | 'stored' | { process: string }

/** Text that was typed and could not be kept. `block_id` is null, since nobody knows any more where it was typed. */
export type LostText = { block_id: string | null; text: string }

/** What a rescue needs to know of its document, and whom it tells. */
export type RescueOptions = {
  /**
   * Where the update of a transaction came from: an editor of this process, an editor of another process that has the
   * document open, or the database.
   */
  sourceOf: (origin: unknown) => UpdateSource
  /** The origin of the transactions that the rescue makes. They hold text to be stored, like typed text. */
  origin: unknown
  /** Is told of text that could not be kept, with the origin of the transaction that brought it. */
  onLost?: (lost: LostText, origin: unknown) => void
  /** Is told that `peerHeard` or `peerLeft` is to be called for a process, when it has heard all changes up to now. */
  onAwaited?: (process: string) => void
  /** Is told how many characters and nodes have been put in their new place. */
  onRescued?: (count: number) => void
  limits?: MemoryLimits
}

/**
 * Watches an open Y document, and puts text that an editor typed into a removed block into the block's copy.
 *
 * Yjs knows neither moves nor changes of type: a block that moves is deleted, and comes anew under the same block id.
 * An editor that does not know this yet types into the deleted block. Yjs would drop the text. A character is **late**
 * if the type around it was deleted, and no update names the character itself as deleted.
 *
 * Every update must be announced before it is applied, or applied by `apply`. Of an update that was not announced, all
 * deletions count as made on purpose.
 */
export class TextRescue {
  readonly #doc: Y.Doc
  readonly #options: RescueOptions
  readonly #memory: RemovedBlocks
  // The ids that came from editors of this process, and those that came from editors of other processes.
  readonly #own = new IdSet()
  readonly #peers = new PeerIds()
  readonly #announced = new Map<unknown, Announced>()
  // Late content of blocks without a copy, oldest first, and its size in parts and characters.
  readonly #postponed = new Set<LateContent>()
  #postponedSize = 0
  // Late content of other processes that may not have heard of the removal.
  readonly #awaited = new Map<string, LateContent[]>()
  readonly #removedHere = new WeakSet<Removed>()
  #late: LateChanges = noChanges()

  constructor(doc: Y.Doc, options: RescueOptions) {
    this.#doc = doc
    this.#options = options
    // Yjs gives the root its type when somebody asks for it.
    bodyFragment(doc)
    leaveFormats(doc)
    this.#memory = new RemovedBlocks(doc, options.limits ?? defaultLimits)
    doc.on('afterTransaction', this.#look)
    doc.on('afterAllTransactions', this.#write)
  }

  /** Applies an update (encoding v1) to the document, and rescues its late text. */
  apply(update: Uint8Array, origin: unknown): void {
    this.announce(readUpdate(update), origin)
    Y.applyUpdate(this.#doc, update, origin)
  }

  /**
   * Announces an update that somebody else applies next with this origin. An origin of Hocuspocus stands for its
   * connection, since each transaction has a new one. A second update of an origin replaces the first.
   */
  announce({ inserted, deleted }: ClientUpdate, origin: unknown): void {
    const source = this.#sourceOf(origin)
    const texts: Y.Item[] = []
    for (const struct of source === 'stored' ? [] : inserted) {
      const { id, length } = struct
      const { client, clock } = id
      const known = Math.max(clock, Y.getState(this.#doc.store, client))
      if (known >= clock + length || struct instanceof Y.Skip) continue
      const news = { client, clock: known, length: clock + length - known }
      if (typeof source === 'object') this.#peers.add(source.process, news)
      else this.#own.add(news)
      const isText = struct instanceof Y.Item && struct.content instanceof Y.ContentString
      if (isText && source === 'editor') texts.push(struct)
    }
    const named = new IdSet()
    for (const range of deleted) named.add(range)
    // Yjs keeps deletions that wait for their text, and tries them again with each update.
    const { deletions } = keptAside(this.#doc)
    if (deletions.length > 0) for (const range of IdSet.of(Y.decodeUpdateV2(deletions).ds)) named.add(range)
    this.#announced.set(authorOf(origin), { named, source, texts })
  }

  /** Notes that another process holds the document. */
  peerJoined(process: string): void {
    this.#peers.joined(process)
  }

  /** Notes that another process has heard all changes up to `onAwaited`, and so rescues its text itself. */
  peerHeard(process: string): void {
    this.#awaited.delete(process)
  }

  /** Notes that another process has closed the document or is gone, and rescues nothing any more. */
  peerLeft(process: string): void {
    this.#peers.left(process)
    const contents = this.#awaited.get(process) ?? []
    this.#awaited.delete(process)
    this.#memory.remember(contents.flatMap(blocksIn))
    for (const content of contents) this.#place(content)
    this.#write()
  }

  /** Rescues what was awaited, because this process is about to leave and cannot wait any longer. */
  rescueAwaited(): void {
    for (const process of [...this.#awaited.keys()]) this.peerLeft(process)
  }

  /** Whether there is late text of which `peerHeard` or `peerLeft` will decide. */
  get isAwaiting(): boolean {
    return this.#awaited.size > 0
  }

  /** Stops watching. */
  close(): void {
    this.#doc.off('afterTransaction', this.#look)
    this.#doc.off('afterAllTransactions', this.#write)
  }

  readonly #look = (transaction: Y.Transaction): void => {
    const { origin } = transaction
    const announced = this.#announced.get(authorOf(origin))
    this.#announced.delete(authorOf(origin))
    const isEditors = this.#sourceOf(origin) === 'editor'
    if (!announced && isEditors) for (const range of newRanges(transaction)) this.#own.add(range)
    const deleted = IdSet.of(transaction.deleteSet)
    const ours = (range: IdRange) => (isEditors ? complement(this.#peers.parts(range)) : this.#own.parts(range))
    const look: Look = { transaction, deleted, named: announced?.named ?? null, ours }
    const found = this.#remember(look)
    const touched = new Set(found.filter(({ hasLate }) => hasLate).map(({ removed }) => removed))
    if (isEditors) {
      for (const { removed } of found) this.#removedHere.add(removed)
      const unheard = found.filter(({ hasOthers }) => hasOthers).map(({ removed }) => removed)
      this.#await(unheard, { look, processes: this.#peers.present })
    }
    if (announced && announced.source !== 'stored' && !this.#memory.isEmpty) {
      const reached = [...this.#touchedBy(transaction)]
      if (typeof announced.source === 'object') {
        const unheard = reached.filter((removed) => this.#removedHere.has(removed))
        this.#await(unheard, { look, processes: [announced.source.process] })
      } else {
        for (const removed of reached) touched.add(removed)
        this.#deleteCopies(announced.named)
      }
    }
    const contents = [...touched].map((removed) => readLate(removed, look))
    this.#memory.remember(contents.flatMap(blocksIn))
    for (const content of contents) this.#place(content)
    this.#placePostponed()
    if (announced && isEditors) this.#reportLost(announced, origin)
  }

  readonly #write = (): void => {
    const late = this.#late
    if (Object.values(late).every((changes) => changes.length === 0)) return
    this.#late = noChanges()
    this.#doc.transact(() => writeLate(this.#doc, late, this.#memory), this.#options.origin)
    const ids = late.texts.flatMap(({ sources }) => sources).reduce((sum, { length }) => sum + length, 0)
    if (ids + late.blocks.length > 0) this.#options.onRescued?.(ids + late.blocks.length)
  }

  /** Keeps the late content that other processes should rescue, until they have heard of the removal or have left. */
  #await(blocks: readonly Removed[], { look, processes }: { look: Look; processes: readonly string[] }): void {
    if (blocks.length === 0) return
    for (const process of processes) {
      const theirs: Look = { ...look, ours: (range) => this.#peers.partsOf(process, range) }
      // A late block comes with the block around it.
      const known = blocks.filter(({ type }) => !isLateBlock(itemOf(type), theirs))
      const contents = known.map((removed) => readLate(removed, theirs)).filter(isChange)
      if (contents.length === 0) continue
      this.#awaited.set(process, [...(this.#awaited.get(process) ?? []), ...contents])
      this.#options.onAwaited?.(process)
    }
  }

  /** Late content of a block without a copy waits, because the copy may come with a later update. */
  #place(content: LateContent): void {
    if (this.#memory.liveCopy(content.removed)) {
      placeLate(content, this.#memory, this.#late)
      return
    }
    this.#postponed.add(content)
    this.#postponedSize += sizeOf(content)
    for (const oldest of this.#postponed) {
      if (this.#postponedSize <= mostPostponed) break
      this.#postponed.delete(oldest)
      this.#postponedSize -= sizeOf(oldest)
    }
  }

  #placePostponed(): void {
    const arrived = new Set(this.#memory.takeArrived())
    if (arrived.size === 0) return
    for (const content of this.#postponed) {
      if (!arrived.has(content.removed)) continue
      this.#postponed.delete(content)
      this.#postponedSize -= sizeOf(content)
      placeLate(content, this.#memory, this.#late)
    }
  }

  #sourceOf(origin: unknown): UpdateSource {
    return origin === this.#options.origin ? 'editor' : this.#options.sourceOf(origin)
  }

  /** Remembers what a transaction removed, and finds copies. */
  #remember(look: Look): Removal[] {
    const found = look.transaction.deleteSet.clients.size > 0 ? removedIn(look) : []
    this.#memory.remember(found.map(({ removed }) => removed))
    const blocks = Map.groupBy(found, ({ removed }) => removed.copy)
    for (const [copy, parts] of blocks) {
      if (copy) this.#linkTexts(copy, { removed: parts.map(({ removed }) => removed), transaction: look.transaction })
    }
    if (this.#memory.isWaiting) {
      for (const element of elementsWithNewId(look.transaction)) this.#memory.arrive(element)
    }
    return found
  }

  /** Texts that were taken out of a block which stays: their characters were written again in other texts there. */
  #linkTexts(copy: Y.XmlElement, { removed, transaction }: { removed: Removed[]; transaction: Y.Transaction }): void {
    const { beforeState } = transaction
    const line = liveLine(copy).filter(({ client, clock }) => clock >= (beforeState.get(client) ?? 0))
    this.#memory.link(removed, { copy, line })
  }

  /** The removed blocks in which a transaction inserted something, or set an attribute. */
  *#touchedBy(transaction: Y.Transaction): Generator<Removed> {
    for (const item of newItems(transaction)) {
      const removed = isLive(item.parent) ? undefined : this.#memory.around(item.parent)
      if (!removed) continue
      // What comes later may be written into this text, or stand between these formats.
      keep(item, typeOf(item) !== undefined || item.content instanceof Y.ContentFormat)
      yield removed
    }
  }

  /**
   * Deletes the copies of the characters that an update names. If the update names a removed block itself, its editor
   * knows of the removal, and the deletions of the block's characters come with it.
   */
  #deleteCopies(named: IdSet): void {
    const isCounted = ({ type }: Removed) => {
      const item = itemOf(type)
      return item !== null && !named.has(item.id)
    }
    for (const range of named) this.#late.deletions.push(...this.#memory.liveRanges(range, isCounted))
  }

  /** Reports the text that Yjs dropped, because nobody remembers the block around it. */
  #reportLost({ named, texts }: Announced, origin: unknown): void {
    let lost = ''
    for (const { id, lastId: last, origin: before, content } of texts) {
      const { client, clock } = id
      const isPending = Y.getState(this.#doc.store, client) <= last.clock
      if (isPending || named.has(last) || Y.getItem(this.#doc.store, last) instanceof Y.Item) continue
      const follows = before?.client === client && before.clock === clock - 1
      lost += `${follows || lost === '' ? '' : '\n'}${content instanceof Y.ContentString ? content.str : ''}`
      if (lost.length > longestReport) break
    }
    if (lost !== '') this.#options.onLost?.({ block_id: null, text: lost.slice(0, longestReport) }, origin)
  }
}

const defaultLimits: MemoryLimits = { blocks: 10_000, characters: 2_000_000 }
// The most parts and characters of late content that wait for the copy of their block.
const mostPostponed = 100_000
// The most UTF-16 code units of lost text that are reported at once.
const longestReport = 10_000

/** An update that is applied next. `texts` are the texts in it that the document did not have. */
type Announced = { named: IdSet; source: UpdateSource; texts: Y.Item[] }

function noChanges(): LateChanges {
  return { texts: [], blocks: [], deletions: [], formats: [], attributes: [] }
}

function authorOf(origin: unknown): unknown {
  return typeof origin === 'object' && origin !== null && 'connection' in origin ? origin.connection : origin
}

function complement(parts: readonly (IdRange & { isIn: boolean })[]): (IdRange & { isIn: boolean })[] {
  return parts.map((part) => ({ ...part, isIn: !part.isIn }))
}

function newRanges({ beforeState, afterState }: Y.Transaction): IdRange[] {
  return [...afterState].flatMap(([client, end]) => {
    const clock = beforeState.get(client) ?? 0
    return end > clock ? [{ client, clock, length: end - clock }] : []
  })
}

function* newItems(transaction: Y.Transaction): Generator<Y.Item> {
  for (const range of newRanges(transaction)) {
    for (const struct of structsIn(transaction.doc, range)) if (struct instanceof Y.Item) yield struct
  }
}

/** The live blocks that came in a transaction, or got an id in it. */
function* elementsWithNewId(transaction: Y.Transaction): Generator<Y.XmlElement> {
  for (const item of newItems(transaction)) {
    const type = typeOf(item)
    if (type instanceof Y.XmlElement && !item.deleted) yield type
  }
  for (const [type, names] of transaction.changed) {
    if (type instanceof Y.XmlElement && names.has('id') && isLive(type)) yield type
  }
}
