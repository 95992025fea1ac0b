import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { bodyText, dropUnusedBody } from '../queries.ts'
import * as queries from './queries.ts'
import { Follower } from './y-session.ts'

/** Opens the stored Y document of a locked document, which `openLive` must have made before. */
export async function loadFollower(tx: Transaction, key: queries.DocumentKey): Promise<Follower> {
  const stored = await queries.liveState(tx, key)
  if (stored === null) throw new Error(`The document ${key.id} was never opened live`)
  return new Follower(stored, await queries.updatesAfter(tx, { ...key, n: stored.folded_n }))
}

/** Takes over what was written to the body since the one that the Y document stands at. Stores nothing. */
export async function catchUp(
  tx: Transaction,
  input: { follower: Follower; document: DocumentRow; current: string },
): Promise<void> {
  const { follower, document, current } = input
  const { body_seq } = follower.stored
  if (body_seq === document.body_seq) return
  const from = await bodyText(tx, { ...document, body_seq })
  follower.follow(from.split('\n'), current.split('\n'))
}

/**
 * Stores what a follower took in, standing at the document's body now, and lets go of the body it stood at before. A
 * long log is folded into the state, because everybody who opens the document replays it.
 */
export async function storeFollower(
  tx: Transaction,
  { follower, document }: { follower: Follower; document: queries.DocumentKey & { body_seq: number } },
): Promise<void> {
  const { workspace_id, id, body_seq } = document
  const { stored, appended } = follower
  if (appended.length > 0 || stored.body_seq !== body_seq) {
    await queries.advance(tx, { workspace_id, id, body_seq, n: stored.n, updates: appended })
  }
  if (stored.body_seq !== body_seq) await dropUnusedBody(tx, { workspace_id, id, body_seq: stored.body_seq })
  if (follower.n - stored.folded_n > longestLog) await foldFollower(tx, { follower, key: document })
}

/** Folds all that a follower holds, and that is stored, into the state. */
export async function foldFollower(
  tx: Transaction,
  { follower, key }: { follower: Follower; key: queries.DocumentKey },
): Promise<void> {
  const { workspace_id, id } = key
  await queries.foldLog(tx, { workspace_id, id, n: follower.n, state: follower.state })
}

/** So many rows replay in a few milliseconds; writing a large state costs more. */
const longestLog = 200
