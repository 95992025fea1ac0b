/** The worker types. Each worker type has its line in the Procfile; one process can also run several worker types. */
export const workerTypeNames = [
  'search',
  'changes',
  'relations',
  'candidates',
  'summaries',
  'localization',
  'events',
  'sweeps',
] as const

/** The name of a worker type, as the Procfile and the metrics use it. */
export type WorkerType = (typeof workerTypeNames)[number]
