import { percentile } from '../bench/harness.ts'
import type { StormResult } from './storm.ts'

/** The report of a run: what was done and how fast, why keystrokes are gone, and what is wrong. */
export function reportOf({ world, violations, explained, directory }: StormResult): string {
  const counts = [...world.counts].sort(([one], [other]) => (one < other ? -1 : 1))
  const latencies = (['typed', 'written', 'saved'] as const).map((kind) => {
    const values = world.documents.flatMap(({ ledger }) => ledger.latencies[kind])
    return [
      names[kind],
      `p50 ${percentile(values, 50)} ms, p95 ${percentile(values, 95)} ms (${values.length})`,
    ] as const
  })
  const gone = [...explained].map(([reason, count]) => [`gone: ${reason}`, count] as const)
  const lines = [...counts, ...latencies, ...gone].map(([name, value]) => `${name.padEnd(52)} ${value}`)
  const shown = violations.slice(0, 40).map((violation) => `  - ${violation}`)
  const verdict =
    violations.length === 0 ? 'Nothing is wrong.' : `${violations.length} violations:\n${shown.join('\n')}`
  return `${lines.join('\n')}\n\n${verdict}\n\nArtefacts: ${directory}\n`
}

const names = {
  typed: 'keystroke to the first other editor',
  written: 'answer of the API to the first editor',
  saved: 'keystroke to its saved message',
}
