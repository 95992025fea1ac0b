/**
 * How often a property is tried: 200 times from one seed, so that a run of all tests can be repeated, or as often as
 * FC_RUNS says, from a new seed each time: that is the long mode, which looks further.
 */
export const runs =
  process.env['FC_RUNS'] === undefined
    ? { numRuns: 200, seed: 20_251_121 }
    : { numRuns: Number(process.env['FC_RUNS']) }
