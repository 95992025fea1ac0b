import fc from 'fast-check'
import { isLong, runsVariable, seedVariable } from './run-options.ts'
import { t } from './tap.ts'

/**
 * How often a property is tried: 25 times in the short run, 100 times in the long run, from one seed, so that a run can
 * be repeated. `--runs` and `--seed` set others.
 */
export const runs = {
  numRuns: Number(process.env[runsVariable] ?? (isLong ? 100 : 25)),
  seed: Number(process.env[seedVariable] ?? 20_251_121),
}

/** The runs of a property that costs less or more than most: `share` of the usual ones. */
export function runsTimes(share: number): typeof runs {
  return { ...runs, numRuns: Math.ceil(runs.numRuns * share) }
}

/** The rounds of a race: orders that go wrong are rare. */
export const raceRounds = Array.from({ length: isLong ? 8 : 2 }, (_, round) => round)

fc.configureGlobal({
  ...runs,
  reporter(details) {
    if (!details.failed) return
    const command = isLong ? 'npm run test:long' : 'npm test'
    const { stack } = (details.errorInstance ?? {}) as { stack?: string }
    const again = `${command} -- ${t.name} --seed=${details.seed} --runs=${runs.numRuns}`
    throw new Error(`${fc.defaultReportMessage(details)}\n${stack ?? ''}\nRun it again: ${again}`)
  },
})
