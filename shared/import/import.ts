import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { KnowledgeBase, KnowledgeBaseOptions } from '../client/client.ts'
import type { Plan } from './plan.ts'
import { accepted, FinalRefusal, ImportError, Refused } from './refusals.ts'
import { type ImportResult, type ImportRun, type Progress, planOf, runImport } from './run.ts'
import { type ImportSource, openFolder, openZip, SourceError, skipReasons } from './source.ts'
import { type ImportEnd, ImportState } from './state.ts'

/** What a person asks to import, and where to. */
export type ImportOrder = {
  /** A zip or a folder on this machine. */
  path: string
  /** The origin of the service, by which an interrupted import is recognised. */
  origin: string
  /** The knowledge base to import into; null for a new one. */
  knowledgeBase: number | null
  /** The file that notes what exists already; `<path>.import-state` by default. */
  state?: string | undefined
  /** Whether everything is imported as new, although the source was imported before. */
  again?: boolean | undefined
  /** Whether every skipped file is told. */
  listsSkipped: boolean
}

/**
 * The patience with which the client of an import calls: it outlasts a restart of the service and the window of a rate
 * limit.
 */
export const patience = {
  timeout: 300_000,
  maxRetries: 12,
  maxRetryDelay: 60_000,
} satisfies Partial<KnowledgeBaseOptions>

/**
 * Imports a source through the API, or goes on with an import that was interrupted. Rejects with a SourceError, an
 * ImportError or a Refused whose message is for the person. What is refused of a single thing is in the result.
 */
export async function importSource(
  order: ImportOrder,
  { client, progress }: { client: KnowledgeBase; progress: Progress },
): Promise<ImportResult> {
  const { path, origin, knowledgeBase } = order
  const source = await openSource(path)
  try {
    const plan = await planOf(source)
    tellPlan(plan, { progress, listsSkipped: order.listsSkipped })
    const target = { origin, fingerprint: plan.fingerprint, knowledgeBase }
    const state = await ImportState.open(order.state ?? `${resolve(path)}.import-state`, target, order.again)
    if (state.resumedFrom !== null) tellResumed(state, progress)
    if (state.finished !== null)
      progress.tell(
        `imported before, on ${state.finished}: only changes are imported. To import all again, use --again`,
      )
    return await importPlan({ plan, client, state, progress })
  } finally {
    await source.close()
  }
}

/** Whether an error of `importSource` has a message for the person who imports. Any other error is a fault of ours. */
export function isForPerson(error: unknown): error is ImportError | SourceError | Refused {
  return error instanceof ImportError || error instanceof SourceError || error instanceof Refused
}

async function importPlan(run: ImportRun): Promise<ImportResult> {
  let end: ImportEnd = 'interrupted'
  try {
    // This call fails when the service is absent or the token is unknown, so the person learns of it before the import
    // begins.
    await accepted(run.client.api.GET('/me'))
    const result = await runImport(run)
    if (result.failed.length === 0) end = 'finished'
    return result
  } catch (error) {
    if (error instanceof FinalRefusal || error instanceof Refused) end = 'refused'
    throw error
  } finally {
    await run.state.close(end)
  }
}

// So many addresses that lead nowhere are told.
const mostDeadLinks = 50

function tellPlan({ warnings, skipped, deadLinks }: Plan, to: { progress: Progress; listsSkipped: boolean }): void {
  const { progress, listsSkipped } = to
  for (const warning of warnings) progress.tell(warning)
  for (const { name, address } of deadLinks.slice(0, mostDeadLinks)) {
    progress.tell(`leads nowhere: ${JSON.stringify(address)} in ${JSON.stringify(name)}`)
  }
  const more = deadLinks.length - mostDeadLinks
  if (more > 0) progress.tell(`${more} further addresses lead nowhere; leads_nowhere of the result names them`)
  if (listsSkipped) {
    for (const { name, reason } of skipped) progress.tell(`skipped: ${JSON.stringify(name)}: ${skipReasons[reason]}`)
  } else if (skipped.length > 0) {
    progress.tell(`${skipped.length} files and folders of the source are skipped; --list-skipped names them`)
  }
}

function tellResumed({ path, resumedFrom, folders, documents }: ImportState, progress: Progress): void {
  const made = `${folders.size} folders and ${documents.size} documents exist`
  progress.tell(`going on with an import that began ${resumedFrom}: ${made}. To begin anew, remove ${path}`)
}

async function openSource(path: string): Promise<ImportSource> {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) throw new SourceError(`there is no ${path}`)
  return found.isDirectory() ? openFolder(path) : openZip(path)
}
