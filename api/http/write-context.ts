import type { Caller } from '../../shared/auth/caller.ts'
import type { CommitContext } from '../../shared/body/consequence.ts'
import type { Ahead } from '../../shared/computations/ahead.ts'
import type { Config } from '../../shared/config/config.ts'
import { bodyConsequences } from '../../shared/consequences/body.ts'
import { deletionConsequences, keptTables } from '../../shared/consequences/deletion.ts'
import type { Transaction } from '../../shared/database/database.ts'
import type { DeletionContext } from '../../shared/documents/deletion.ts'
import type { Client } from '../../shared/requests/client.ts'
import { trashOf } from '../../shared/trash/archive.ts'
import type { RestorationContext } from '../../shared/trash/restore.ts'
import type { Service } from './service.ts'

/** A context for the writes of a call: its transaction, who calls, and the consequences of the writes. */
export type WriteContext = CommitContext & DeletionContext & RestorationContext & { config: Config }

type WritingCall = { tx: Transaction; ahead: Ahead; service: Service; caller: Caller; client: Client }

/** Builds the context of a call that writes. */
export function writeContext({ tx, ahead, service, caller, client }: WritingCall): WriteContext {
  const { jobs, config } = service
  const days = config.TRASH_RETENTION_DAYS
  const trash = days === 0 ? null : trashOf({ tables: keptTables, days })
  return { tx, ahead, jobs, config, caller, client, trash, consequences }
}

const consequences = { body: bodyConsequences, deletion: deletionConsequences, kept: keptTables }
