import type { LoggedBody } from '../body-log.ts'
import type { ApiWrite } from '../ledger.ts'
import type { StormSite } from '../storm-site.ts'
import type { Ending } from './ending.ts'

/**
 * Compares what programs and editors were told with the history: each acknowledged write and each `saved` message names
 * a body that was stored, a guarded write follows the body of its guard, a write changes only the blocks that it was
 * about, and the events name the versions of all bodies in their order.
 */
export async function checkHistory({ site }: StormSite, ending: Ending): Promise<string[]> {
  const { document, ledger, bodies } = ending
  const events = await site.ask(
    `SELECT document->>'version' AS version FROM events
     WHERE document_id = $1 AND name = 'document.content.updated' ORDER BY row_no`,
    [document.id],
  )
  const versions = bodies.map(({ version }) => version)
  const known = new Set(versions)
  const unknown = ledger.saves.filter(({ version }) => !known.has(version))
  return [
    ...checkWrites(ledger.writes, bodies),
    ...checkReach(ledger.writes, bodies),
    ...unknown.map(({ to, version }) => `${to} was told that ${version} is saved, and no such body was ever stored`),
    ...sequenceFault(
      'events',
      events.map(({ version }) => version),
      versions.slice(1),
    ),
  ]
}

/** What keeps two sequences of versions from being equal. */
export function sequenceFault(what: string, got: readonly string[], want: readonly string[]): string[] {
  const index = want.findIndex((version, at) => got[at] !== version)
  if (index === -1 && got.length === want.length) return []
  const at = index === -1 ? want.length : index
  return [`the ${what} name ${got.length} bodies of ${want.length}; number ${at} is ${got[at]} instead of ${want[at]}`]
}

// Writes of one program happen one after another, so their bodies are searched from the body of its last write on.
function checkWrites(writes: readonly ApiWrite[], bodies: readonly LoggedBody[]): string[] {
  const reached = new Map<string, number>()
  return writes
    .filter(({ outcome }) => outcome === 'acknowledged')
    .flatMap((write) => {
      const from = reached.get(write.by) ?? 0
      const index = bodies.findIndex(({ version }, at) => at >= from && version === write.version)
      if (index === -1) return [`${shown(write)} was acknowledged, and its version is not in the history`]
      reached.set(write.by, index)
      if (write.base === null || write.base === write.version) return []
      const follows = bodies.some(
        ({ version }, at) => version === write.version && bodies[at - 1]?.version === write.base,
      )
      return follows ? [] : [`${shown(write)} was made for ${write.base}, and another body came between them`]
    })
}

// A write changes or removes no other top-level block than those that it was about or that hold such a block.
function checkReach(writes: readonly ApiWrite[], bodies: readonly LoggedBody[]): string[] {
  return bodies.flatMap((body, index) => {
    const before = bodies[index - 1]
    const made = writes.filter(
      ({ version, at, endedAt }) => version === body.version && at <= body.at && body.at <= endedAt,
    )
    const [write] = made
    if (!body.byApi || before === undefined || write === undefined || made.length > 1 || write.intended === null)
      return []
    const after = new Set(body.lines)
    const intended = [...write.intended]
    return before.lines
      .filter((line) => !after.has(line) && !intended.some((id) => line.includes(id)))
      .map((line) => `${shown(write)} was about ${intended.join(', ') || 'new blocks'} and changed ${line}`)
  })
}

/** A write in words. */
export function shown({ by, operation, at, version, outcome }: ApiWrite): string {
  return `${operation} by ${by} at ${new Date(at).toISOString().slice(11)} (${outcome}, ${version})`
}
