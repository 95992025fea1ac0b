/** What a worker process can do: one line of the Procfile each, alone or together in one process. */
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

export type WorkerType = (typeof workerTypeNames)[number]
