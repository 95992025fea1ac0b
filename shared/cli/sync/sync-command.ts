import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Context, IdPolicy } from '../frame/command.ts'
import type { Connection } from '../frame/connection.ts'
import { exitCodes, Failure } from '../frame/failures.ts'
import { placeNamed } from '../frame/names.ts'
import { lockFolder } from './lock.ts'
import { previewReport, resultReport, type SyncReport, showReport } from './report.ts'
import { SyncService } from './service.ts'
import { isUnfinished, newResult, type RoundResult, SyncSession } from './session.ts'
import { SyncState, type SyncTarget } from './state.ts'
import { watchSides } from './watch.ts'

/**
 * A call of `sync`: the folder, the place of the service if the call names one, and the options. `yes` also lets many
 * documents or files be deleted.
 */
export type SyncCall = {
  dir: string
  place: string | undefined
  options: { dryRun?: boolean; watch?: boolean; yes?: boolean; ids: IdPolicy }
}

/**
 * The work of `sync`: brings both sides into step, prints a report, and goes on until Ctrl-C with `watch`. Throws a
 * Failure for a folder that cannot be synced with the place.
 */
export async function sync(context: Context, { dir, place, options }: SyncCall): Promise<void> {
  const { out, interrupts } = context
  const root = options.dryRun ? plannedFolderOf(dir) : folderOf(dir)
  const connection = await context.connect()
  const target = await targetOf(connection, { root, dir, place })
  // A dry run writes nothing, so it needs no lock, and may look at a folder that another process has.
  const unlock = options.dryRun ? () => undefined : lockFolder(root)
  const forget = interrupts.onInterrupt(async () => unlock())
  try {
    const service = new SyncService(connection.service, { target, ids: options.ids, signal: interrupts.signal })
    const state = options.dryRun ? SyncState.read(root, target) : SyncState.open(root, target)
    const onProgress = (done: number, total: number) => out.progress(`${done} of ${total} documents`)
    const graceMs = options.watch ? 2000 : 0
    const session = new SyncSession({ root, state, service, mayDelete: options.yes ?? false, graceMs, onProgress })
    if (options.dryRun) {
      finish(context, previewReport(await session.preview()))
      return
    }
    const isOneOfMany = options.watch ?? false
    const stopped = (report: SyncReport) => finish(context, report, { isOneOfMany })
    const report = await untilInStep(session, stopped)
    finish(context, report, { isOneOfMany })
    if (options.watch) {
      const onTrouble = ({ message }: Error) => out.note({ text: `waiting: ${message}`, style: 'dim' })
      const watched = {
        root,
        target,
        session,
        service,
        client: connection.service,
        signal: interrupts.signal,
        onTrouble,
      }
      let withheld = report.withheld.length
      await watchSides(watched, async () => {
        const next = await untilInStep(session, stopped)
        const isNew = next.actions.length + next.conflicts.length + next.losses.length + next.failed.length > 0
        if (isNew || next.withheld.length !== withheld) finish(context, next, { isOneOfMany: true })
        withheld = next.withheld.length
      })
    }
  } finally {
    unlock()
    forget()
  }
}

// The most rounds of one sync. Each further round is for what has changed during the round before.
const mostRounds = 6

// An error ends the rounds. What they have done by then is told first, since no later sync tells of it.
async function untilInStep(session: SyncSession, stopped: (report: SyncReport) => void): Promise<SyncReport> {
  const rounds: RoundResult[] = []
  try {
    do {
      const result = newResult()
      rounds.push(result)
      await session.round(result)
    } while (isUnfinished(rounds.at(-1)) && rounds.length < mostRounds)
  } catch (error) {
    const report = resultReport(rounds)
    if (report.actions.length + report.conflicts.length > 0) stopped(report)
    throw error
  }
  return resultReport(rounds)
}

function finish({ out }: Context, report: SyncReport, { isOneOfMany = false } = {}): void {
  out.endProgress()
  if (isOneOfMany) out.item(report, () => showReport(report, out))
  else out.answer(report, () => showReport(report, out))
  if (report.conflicts.length > 0) process.exitCode = exitCodes.conflict
  else if (report.failed.some(({ code }) => code === 'forbidden')) process.exitCode = exitCodes.denied
  else if (report.failed.length + report.withheld.length > 0) process.exitCode = exitCodes.failed
}

// The folder, which is made if it is missing.
function folderOf(dir: string): string {
  if (!existsSync(dir)) mkdirSync(dir, { recursive: true })
  const root = realpathSync(dir)
  if (statSync(root).isDirectory()) return root
  throw new Failure('usage', 'no_folder', { message: `${dir} is no folder.` })
}

// The folder of a dry run. A missing folder stays missing, and counts as empty.
function plannedFolderOf(dir: string): string {
  return existsSync(dir) ? folderOf(dir) : resolve(dir)
}

async function targetOf(connection: Connection, { root, dir, place }: Omit<SyncCall, 'options'> & { root: string }) {
  const known = SyncState.targetOf(root)
  const named = place === undefined ? null : await targetNamed(connection, place)
  if (known === null && named === null) {
    throw new Failure('usage', 'place_missing', {
      message: `${dir} was never synced.`,
      hint: 'Name a knowledge base or a folder of the service: "knowledge-base sync DIR PLACE".',
    })
  }
  const target = known ?? (named as SyncTarget)
  const isOther =
    named !== null && (named.knowledge_base_id !== target.knowledge_base_id || named.folder_id !== target.folder_id)
  if (target.origin !== connection.origin || isOther) {
    const place =
      target.folder_id === null ? `knowledge base ${target.knowledge_base_id}` : `folders/${target.folder_id}`
    throw new Failure('usage', 'other_place', {
      message: `${dir} is synced with ${place} of ${target.origin}.`,
      hint: 'Take another folder for another place.',
    })
  }
  return target
}

async function targetNamed(connection: Connection, name: string): Promise<SyncTarget> {
  const { origin, service } = connection
  const { type, id } = await placeNamed(connection, name)
  if (type === 'knowledge_base') {
    await service.api.GET('/knowledge-bases/{id}', { params: { path: { id } } })
    return { origin, knowledge_base_id: id, folder_id: null }
  }
  const { data } = await service.api.GET('/folders/{id}', { params: { path: { id } } })
  return { origin, knowledge_base_id: data.knowledge_base_id, folder_id: id }
}
