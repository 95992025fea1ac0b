import * as Y from 'yjs'
import { IdMap, type IdRange } from './id-ranges.ts'
import type { Id, Struct } from './update-reader.ts'

/**
 * An upper bound of the moves of structs that an update causes. Yjs keeps the structs of a client in one array. Where a
 * new struct or a deletion cuts a struct in two, Yjs moves all structs behind it by one place, and once more where it
 * merges deleted structs. A thousand moves take about a microsecond. The deletions are in ascending order.
 */
export function structMoves(
  { store }: Y.Doc,
  { inserted, deleted }: { inserted: readonly Struct[]; deleted: readonly IdRange[] },
): number {
  const lists = new Map<number, StructList>()
  const listOf = (client: number) => {
    const list = lists.get(client) ?? new StructList(store.clients.get(client) ?? [])
    lists.set(client, list)
    return list
  }
  for (const struct of inserted) if (struct.kind !== 'skip') listOf(struct.client).append(struct)
  for (const { kind, origin, rightOrigin } of inserted) {
    if (kind === 'gc' || kind === 'skip') continue
    if (origin) listOf(origin.client).cut({ ...origin, clock: origin.clock + 1 })
    if (rightOrigin) listOf(rightOrigin.client).cut(rightOrigin)
  }
  for (const range of deleted) listOf(range.client).delete(range)
  let moves = 0
  for (const list of lists.values()) moves += list.moves
  return moves
}

/** A deletion: how often it makes Yjs cut and merge structs, and the number of structs behind it. */
type Deletion = { clock: number; end: number; cuts: number; merges: number; behind: number }

/** The structs of one client: those of the document, and those of the update behind them. */
class StructList {
  readonly #known: readonly (Y.Item | Y.GC)[]
  readonly #state: number
  readonly #news = new IdMap<Struct>()
  #countOfNews = 0
  /** For each place at which new structs cut a struct, the number of structs behind the place. */
  readonly #cuts = new Map<number, number>()
  readonly #deletions: Deletion[] = []

  constructor(known: readonly (Y.Item | Y.GC)[]) {
    this.#known = known
    const last = known.at(-1)
    this.#state = last === undefined ? 0 : last.id.clock + last.length
  }

  append(struct: Struct): void {
    const { client, clock, length } = struct
    if (clock < this.#state) return
    this.#news.add({ client, clock, length, value: struct })
    this.#countOfNews += 1
  }

  /** Notes that a new struct ends or begins at an id. */
  cut(id: Id): void {
    if (!this.#cuts.has(id.clock) && this.#isInside(id)) this.#cuts.set(id.clock, this.#behind(id))
  }

  /** Notes a deletion, unless everything in the range is deleted already. Deletions come in ascending order. */
  delete(range: IdRange): void {
    if (!this.#isLive(range)) return
    const { client, clock, length } = range
    const end = clock + length
    const cuts = [clock, end].filter((place) => this.#isInside({ client, clock: place }) && !this.#cuts.has(place))
    const isPart = this.#isInside(range) && this.#structAt(range) === this.#structAt({ client, clock: end })
    const before = this.#deletions.at(-1)
    // Between two live parts of a struct, the deleted part has nothing to merge with.
    const merges = isPart && before?.end !== clock ? 0 : 1
    this.#deletions.push({ clock, end, cuts: cuts.length, merges, behind: this.#behind(range) })
  }

  /** Yjs first cuts for the new structs, then for the deletions from left to right, and merges at last. */
  get moves(): number {
    const cuts = [...this.#cuts.keys()].sort((a, b) => a - b)
    let moves = 0
    for (const behind of this.#cuts.values()) moves += behind + cuts.length / 2
    let [left, cutByDeletions] = [cuts.length, 0]
    for (const deletion of this.#deletions.toReversed()) {
      while (left > 0 && (cuts[left - 1] ?? 0) >= deletion.clock) left -= 1
      const behind = deletion.behind + cuts.length - left
      cutByDeletions += deletion.cuts
      moves += deletion.cuts * (behind + 1) + deletion.merges * (behind + cutByDeletions)
    }
    return moves
  }

  #isInside(id: Id): boolean {
    const struct = this.#structAt(id)
    return struct !== undefined && struct.clock < id.clock
  }

  #structAt({ client, clock }: Id): Id | undefined {
    if (clock < this.#state) return this.#known[this.#indexOf(clock)]?.id
    return this.#news.at({ client, clock })?.value
  }

  #behind({ clock }: Id): number {
    const known = clock < this.#state ? this.#known.length - this.#indexOf(clock) : 0
    return known + this.#countOfNews
  }

  #isLive(range: IdRange): boolean {
    const end = range.clock + range.length
    for (let index = this.#indexOf(range.clock); (this.#known[index]?.id.clock ?? end) < end; index++) {
      if (this.#known[index]?.deleted === false) return true
    }
    return this.#news.overlapping(range).some(({ value }) => value.kind !== 'gc' && value.kind !== 'deleted')
  }

  /** The index of the struct that has a clock; the number of structs if none has it. */
  #indexOf(clock: number): number {
    return clock < this.#state ? Y.findIndexSS(this.#known as (Y.Item | Y.GC)[], clock) : this.#known.length
  }
}
