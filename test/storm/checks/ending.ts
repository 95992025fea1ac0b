import type * as Y from 'yjs'
import { linesToDocument } from '../../../shared/body/canonical.ts'
import type { BlockNode } from '../../../shared/body/document.ts'
import type { BlockStep } from '../../../shared/body/manifest.ts'
import { normaliseDocument } from '../../../shared/body/normalise.ts'
import { bodyFragment, readDocument } from '../../../shared/body/yjs/encoding.ts'
import { openState } from '../../../shared/body/yjs/state.ts'
import { type LoggedBody, loggedBodies, loggedSteps } from '../body-log.ts'
import type { Ledger } from '../ledger.ts'
import type { StormSite } from '../storm-site.ts'
import type { Tab } from '../tab.ts'
import type { StormDocument } from '../world.ts'

/** One document at the end of a run, as everybody has it. */
export type Ending = {
  document: StormDocument
  ledger: Ledger
  tabs: readonly Tab[]
  /** All bodies that were ever stored, oldest first. */
  bodies: readonly LoggedBody[]
  /** The recorded step to each body from the body before, by `body_seq`. */
  steps: ReadonlyMap<number, readonly BlockStep[]>
  /** The body that the table `documents` calls the current one. */
  final: LoggedBody
  /** The answer of the API to a read of the content. */
  api: { version: string; blocks: readonly BlockNode[] }
  /** The Y document that the database holds; null when nobody has opened the document. */
  stored: Y.Doc | null
}

/** Reads everything about a document for the checks. */
export async function endingOf(
  storm: StormSite,
  { document, tabs }: { document: StormDocument; tabs: readonly Tab[] },
): Promise<Ending> {
  const { site } = storm
  const { id, ledger } = document
  const bodies = await loggedBodies(site, id)
  const steps = await loggedSteps(site, id)
  const [row] = await site.ask('SELECT body_seq::int AS seq FROM documents WHERE id = $1', [id])
  const final = bodies.find(({ bodySeq }) => bodySeq === row.seq)
  if (final === undefined) throw new Error(`${document.name}: the current body ${row.seq} was never stored`)
  const { data } = (await site.client.get(`/documents/${id}/content`)).body
  const api = { version: data.version, blocks: data.document.content }
  return { document, ledger, tabs, bodies, steps, final, api, stored: await storedReplica(storm, id) }
}

/** The Y document of the database: the state with the log behind it. Null when there is none. */
export async function storedReplica({ site }: Pick<StormSite, 'site'>, id: string): Promise<Y.Doc | null> {
  const states = await site.ask('SELECT state FROM document_y_states WHERE document_id = $1', [id])
  const log = await site.ask(
    `SELECT update FROM document_y_updates JOIN document_y_states USING (workspace_id, document_id)
     WHERE document_id = $1 AND document_y_updates.n > folded_n ORDER BY document_y_updates.n`,
    [id],
  )
  if (states.length === 0) return null
  return openState(...states.map(({ state }) => state), ...log.map(({ update }) => update))
}

/** The blocks of a Y document in normal form, or the reason why there is no normal form. */
export function shownBlocks(doc: Y.Doc): readonly BlockNode[] | { fault: string } {
  try {
    return normaliseDocument(readDocument(bodyFragment(doc)).document, { from: 'json' }).result.content
  } catch (error) {
    return { fault: String(error) }
  }
}

/** The blocks of a stored body. */
export function blocksOf({ lines }: LoggedBody): readonly BlockNode[] {
  return linesToDocument(lines).content
}
