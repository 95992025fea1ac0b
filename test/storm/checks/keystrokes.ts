import { homesOf, type LoggedBody } from '../body-log.ts'
import { type ApiWrite, type Keystroke, type Removal, shownCharacter, typedIn } from '../ledger.ts'
import type { Ending } from './ending.ts'
import { shown } from './history.ts'

/** Why keystrokes are not in the final body, with how many. */
export type Explained = Map<string, number>

/**
 * Checks that each keystroke which is stored according to what its author was told is in the final body, or that
 * somebody's deletion or a `lost_text` message explains its absence. Nothing may be there twice that no editor copied.
 */
export function checkKeystrokes(ending: Ending): { violations: string[]; explained: Explained } {
  const { ledger, final } = ending
  const found = typedIn(final.lines.join('\n'))
  const present = new Set(found)
  const missing = [...ledger.keystrokes.values()].filter((one) => one.savedAt !== null && !present.has(one.character))
  const last = lastBodies(ending.bodies, missing)
  const explained: Explained = new Map()
  const lost = missing.flatMap((keystroke) => {
    const index = last.get(keystroke.character) ?? null
    const reason = reasonOf(ending, { keystroke, index })
    if (reason === null) return [{ keystroke, index }]
    explained.set(reason, (explained.get(reason) ?? 0) + 1)
    return []
  })
  const doubled = found.filter((one, index) => found.indexOf(one) !== index && !ledger.copied.has(one))
  const foreign = found.filter((character) => !ledger.keystrokes.has(character))
  return {
    explained,
    violations: [
      ...describe(ending, lost),
      ...[...new Set(doubled)].map((one) => `${shownCharacter(one)} is there twice, and no editor has copied it`),
      ...foreign.map((one) => `${shownCharacter(one)} belongs to another document`),
    ],
  }
}

/** A keystroke that is missing, and the index of the last body that had it. */
type Missing = { keystroke: Keystroke; index: number | null }

/** The index of the last body with each of the characters. */
function lastBodies(bodies: readonly LoggedBody[], missing: readonly Keystroke[]): Map<string, number> {
  const wanted = new Set(missing.map(({ character }) => character))
  const found = new Map<string, number>()
  for (let index = bodies.length - 1; index >= 0 && wanted.size > 0; index -= 1) {
    for (const character of typedIn(bodies[index]?.lines.join('\n') ?? '')) {
      if (wanted.delete(character)) found.set(character, index)
    }
  }
  return found
}

function reasonOf(ending: Ending, missing: Missing): string | null {
  const { character } = missing.keystroke
  if (ending.ledger.lost.some(({ text }) => text.includes(character))) return 'reported by lost_text'
  if (missing.index === null) return neverStored(ending, missing.keystroke)
  const next = ending.bodies[missing.index + 1]
  return next?.byApi ? removedByProgram(ending, missing) : removedByFlush(ending, missing)
}

// The keystroke was removed before a body with it was stored.
function neverStored({ ledger, bodies }: Ending, keystroke: Keystroke): string | null {
  const blocks = ledger.blocksOf(keystroke)
  for (const removal of ledger.removals) {
    const reason = explains(removal, { keystroke, blocks })
    if (reason !== null) return reason
  }
  const deletion = bodies.some(({ byApi, lines }, index) => {
    const before = bodies[index - 1]?.lines.join('\n') ?? ''
    const after = lines.join('\n')
    return byApi && [...blocks].some((id) => before.includes(id) && !after.includes(id))
  })
  return deletion ? 'typed into a block that a program deleted' : null
}

function removedByProgram({ ledger, bodies }: Ending, { keystroke, index }: Missing): string | null {
  const [before, after] = [bodies[index ?? 0], bodies[(index ?? 0) + 1]]
  if (before === undefined || after === undefined) return null
  const homes = homesOf(before.lines, keystroke.character)
  const write = writersOf(ledger.writes, after).find(
    ({ intended, payload }) =>
      (intended === null || homes.some((id) => intended.has(id))) && !payload.includes(keystroke.character),
  )
  return write === undefined ? null : 'deleted or replaced by a program'
}

/** The writes that may have made a body. */
function writersOf(writes: readonly ApiWrite[], { version, at }: LoggedBody): ApiWrite[] {
  const acknowledged = writes.filter(
    (write) => write.version === version && write.at <= at && at <= write.endedAt + 1000,
  )
  if (acknowledged.length > 0) return acknowledged
  return writes.filter((write) => write.outcome === 'unknown' && write.at <= at)
}

function removedByFlush({ ledger, bodies }: Ending, { keystroke, index }: Missing): string | null {
  const before = bodies[index ?? 0]
  if (before === undefined) return null
  const blocks = new Set([...ledger.blocksOf(keystroke), ...homesOf(before.lines, keystroke.character)])
  for (const removal of ledger.removals) {
    // What was stored before the last body with the keystroke cannot have removed it from the body after.
    if (removal.storedAt !== null && removal.storedAt < before.at) continue
    const reason = explains(removal, { keystroke, blocks })
    if (reason !== null) return reason
  }
  return null
}

function explains(
  { characters, elements, blocks: removed, remade }: Removal,
  { keystroke, blocks }: { keystroke: Keystroke; blocks: ReadonlySet<string> },
): string | null {
  if (characters.has(keystroke.character)) return 'deleted by an editor'
  // A block that was made again elsewhere was moved. Text that the mover had not seen must come along or be reported.
  const isMoved = [...blocks].some((id) => remade.has(id))
  const isInside = keystroke.elements.some((one) => elements.has(one)) || [...blocks].some((id) => removed.has(id))
  return isInside && !isMoved ? 'typed into a block that an editor deleted' : null
}

/** The stories of missing keystrokes. Keystrokes of one author with the same story, such as a word, are told once. */
function describe(ending: Ending, lost: readonly Missing[]): string[] {
  const stories = Map.groupBy(lost, (missing) => `${missing.keystroke.by} ${storyOf(ending, missing).join()}`)
  return [...stories.values()].map((group) => {
    const [first] = group as [Missing]
    const { character, by, at, savedAt, blocks } = first.keystroke
    const others = group.length > 1 ? ` and ${group.length - 1} more` : ''
    const place = blocks.length > 0 ? blocks.join(' in ') : 'a block without id'
    const head = `${shownCharacter(character)}${others} missing: ${by} typed it at ${time(at)} in ${place}, saved ${time(savedAt)}`
    return [head, ...storyOf(ending, first)].join('\n    ')
  })
}

function storyOf({ bodies, ledger }: Ending, { keystroke, index }: Missing): string[] {
  const { character, at } = keystroke
  const before = index === null ? undefined : bodies[index]
  const homes = new Set([...ledger.blocksOf(keystroke), ...homesOf(before?.lines ?? [], character)])
  const isNear = (ids: ReadonlySet<string> | null) => ids === null || [...homes].some((id) => ids.has(id))
  const removals = ledger.removals
    .filter(
      (one) => isNear(one.blocks) || isNear(one.remade) || keystroke.elements.some((name) => one.elements.has(name)),
    )
    .map((one) => ({ at: one.at, text: `${one.by} removed the block by ${one.action}, stored ${time(one.storedAt)}` }))
  const writes = ledger.writes
    .filter(({ outcome, intended }) => outcome !== 'refused' && isNear(intended))
    .map((write) => ({ at: write.at, text: shown(write) }))
  const stored = [before, bodies[(index ?? bodies.length) + 1]].flatMap((body) =>
    body === undefined
      ? []
      : [
          {
            at: body.at,
            text: `body ${body.bodySeq} ${body === before ? 'has' : 'lacks'} it, stored by ${storer(body)}`,
          },
        ],
  )
  const story = [...removals, ...writes, ...stored].sort((one, other) => one.at - other.at)
  const times = [at, ...stored.map((event) => event.at)]
  const close = story.filter((event) => times.some((moment) => Math.abs(event.at - moment) < 5000))
  const place = before === undefined ? 'no stored body ever had it' : 'it was stored'
  return [
    `${place}; its block: ${[...homes].join(', ') || 'none'}`,
    ...close.map((event) => `${time(event.at)} ${event.text}`),
  ]
}

function storer({ byApi }: LoggedBody): string {
  return byApi ? 'the API' : 'a collab process'
}

function time(at: number | null): string {
  return at === null ? 'never' : new Date(at).toISOString().slice(11)
}
