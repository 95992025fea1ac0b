/**
 * The runs of a property test: 100 with a fixed seed, so that a test run is repeatable. With FC_RUNS it is that many
 * runs with a new seed each time, which search further.
 */
export const runs =
  process.env['FC_RUNS'] === undefined
    ? { numRuns: 100, seed: 20_251_121 }
    : { numRuns: Number(process.env['FC_RUNS']) }

/** At least 200 runs, for people and programs who write at the same time: their orders are what goes wrong. */
export const manyRuns = { ...runs, numRuns: Math.max(200, runs.numRuns) }
