/** A character that somebody typed, unlike any other of the run, so that it can be found again. */
export type Keystroke = {
  character: string
  /** An editor or a program. */
  by: string
  at: number
  /** The block ids around the place at that moment, innermost first. */
  blocks: string[]
  /** The Y elements around the place at that moment. */
  elements: string[]
  /** The Yjs client and its clock behind the character; null for a program. */
  clock: { client: number; clock: number } | null
  /** Whether its author was online, so that others could see it soon. */
  isOnline: boolean
  /** When its author was told that it is stored; null as long as that has not happened. */
  savedAt: number | null
}

/** What one transaction of an editor took away: characters that it saw, and whole elements with what was in them. */
export type Removal = {
  by: string
  action: string
  at: number
  /** The Yjs client and its clock after the removal. What the client makes next has this clock. */
  clock: { client: number; clock: number }
  /**
   * When the editor was told that something is stored which it made after the removal, so that the removal is stored,
   * too; null as long as that has not happened. A removal alone has no clock.
   */
  storedAt: number | null
  characters: ReadonlySet<string>
  elements: ReadonlySet<string>
  blocks: ReadonlySet<string>
  /** Blocks that the same transaction made again elsewhere, as a move does. */
  remade: ReadonlySet<string>
}

/** A write of a program, and what became of it. */
export type ApiWrite = {
  by: string
  operation: string
  at: number
  endedAt: number
  /** `unknown` means that no answer came, so the write may have happened or not. */
  outcome: 'acknowledged' | 'refused' | 'unknown'
  status: number
  code: string | null
  /** The version of the body that the answer names. */
  version: string | null
  /** The version that If-Match named; null without a guard, or when it named a block. */
  base: string | null
  /** The ids of the blocks that the write was about; null means all. */
  intended: ReadonlySet<string> | null
  /** The texts that the write sent. */
  payload: string
}

/** A `lost_text` message. */
export type LostText = { to: string; at: number; block: string | null; text: string }

/** A `saved` message. */
export type Saved = { to: string; at: number; version: string; complete: boolean }

/** Everything that was done to one document, as those who did it saw it. */
export class Ledger {
  readonly keystrokes = new Map<string, Keystroke>()
  readonly removals: Removal[] = []
  readonly writes: ApiWrite[] = []
  readonly lost: LostText[] = []
  readonly saves: Saved[] = []
  /** Characters that an editor has inserted again: by a split, a paste, a move or an undo. */
  readonly copied = new Set<string>()
  /** All block ids that a Y element has ever had in any replica. */
  readonly #idsOf = new Map<string, Set<string>>()
  /** Milliseconds from a keystroke or an acknowledged write until another editor of the document showed it. */
  readonly latencies = { typed: [] as number[], written: [] as number[], saved: [] as number[] }
  #arrived = new Set<string>()

  addId(element: string, block: string): void {
    const known = this.#idsOf.get(element)
    if (known) known.add(block)
    else this.#idsOf.set(element, new Set([block]))
  }

  /** The ids of the blocks in which a character was typed, also those that a repair has given to them since. */
  blocksOf({ blocks, elements }: Keystroke): Set<string> {
    return new Set([...blocks, ...elements.flatMap((element) => [...(this.#idsOf.get(element) ?? [])])])
  }

  /** Notes that a character was shown to another editor. */
  arrived(character: string, at: number): void {
    const typed = this.keystrokes.get(character)
    if (typed === undefined || this.#arrived.has(character)) return
    this.#arrived.add(character)
    if (!typed.isOnline) return
    if (typed.clock !== null) this.latencies.typed.push(at - typed.at)
    else if (typed.savedAt !== null) this.latencies.written.push(at - typed.savedAt)
  }
}

const planes = [
  { first: 0xf0000, count: 0xfffe },
  { first: 0x100000, count: 0xfffe },
]
/** Finds the characters of a run in a text. */
const characters = /[\u{F0000}-\u{FFFFD}\u{100000}-\u{10FFFD}]/gu

/** The characters of a text that the run has typed, in order. */
export function typedIn(text: string): string[] {
  return text.match(characters) ?? []
}

/** Hands out characters for private use, none of them twice. There are 131,068, enough for more than an hour. */
export class Characters {
  #used = 0

  next(): string {
    let index = this.#used
    this.#used += 1
    for (const { first, count } of planes) {
      if (index < count) return String.fromCodePoint(first + index)
      index -= count
    }
    throw new Error('All characters for private use have been typed: choose fewer minutes')
  }

  get used(): number {
    return this.#used
  }
}

/** A character in a form that can be read and searched for. */
export function shownCharacter(character: string): string {
  return `U+${character.codePointAt(0)?.toString(16).toUpperCase()}`
}
