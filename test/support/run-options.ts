/** The environment variables by which a run passes to its lanes how long it is, and the runs and seed of properties. */
export const longVariable = 'TEST_LONG'
export const runsVariable = 'TEST_RUNS'
export const seedVariable = 'TEST_SEED'

/** Whether this is the long run. */
export const isLong = process.env[longVariable] === '1'

/** The options of a test that is for the long run alone, beside others of its file. */
export const onlyLong = { skip: isLong ? false : 'npm run test:long has this test' }
