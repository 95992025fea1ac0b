import type { CommitContext } from '../../shared/body/commit.ts'
import type { Ahead } from '../../shared/computations/ahead.ts'
import type { Transaction } from '../../shared/database/database.ts'
import { followers } from '../followers.ts'
import type { Service } from './service.ts'

/** What a call that writes bodies hands to `commitBody`. */
export function commitContext({ tx, service, ahead }: Call): CommitContext {
  return { tx, jobs: service.jobs, config: service.config, followers, ahead }
}

type Call = { tx: Transaction; service: Service; ahead: Ahead }
