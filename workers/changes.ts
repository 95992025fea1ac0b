import {
  type ChainGrowth,
  type ChainSource,
  growing,
  loadChainSources,
  writeChains,
} from '../shared/changes/project.ts'
import type { Config } from '../shared/config/config.ts'
import { queues } from '../shared/jobs/queues.ts'
import { defineProjection, type Projection } from './runtime/projection.ts'
import type { Worker } from './runtime/runtime.ts'

/**
 * The projection of the changes of documents. The chain of a document has a batch of changes for each body, made from
 * stored manifests. The chain depends on the body alone. @internal
 */
export function changesProjection(config: Pick<Config, 'CHANGES_RETENTION'>): Projection<ChainSource, ChainGrowth> {
  const retention = config.CHANGES_RETENTION
  return {
    name: 'changes',
    queue: queues.changesDiff,
    storedIn: { table: 'change_chains', column: 'projected_seq' },
    load: (db, jobs) => loadChainSources(db, jobs, retention),
    compute: growing,
    isPart: (source) => source.isPart,
    sameSource: (source, current) => source.body_seq === current.body_seq,
    write: (tx, derived) => writeChains(tx, derived, retention),
  }
}

/** Derives the changes of documents, in the worker type `changes`. */
export const changesDiffer: Worker = {
  name: queues.changesDiff.name,
  start: (runtime) => defineProjection(changesProjection(runtime.config)).start(runtime),
}
