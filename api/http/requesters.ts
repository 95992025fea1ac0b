import type { Response } from 'express'
import type { Caller } from '../../shared/auth/caller.ts'
import type { Requester } from '../../shared/turns/fair-queue.ts'

/** For whom the heavy work of a caller's requests takes its turns: the user, in the caller's default workspace. */
export function requesterOf(caller: Caller): Requester {
  return { workspaceId: caller.memberships[0]?.workspace_id ?? '', userId: caller.userId }
}

/** The same of somebody without a token: all visitors together count as one workspace, each address as a user. */
export function visitor(address: string): Requester {
  return { workspaceId: '', userId: address }
}

/** Says that nobody waits for an answer any more. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/** A signal that aborts with ClientGone when the client closes the connection before it has its answer. */
export function closeSignal(response: Response): AbortSignal {
  const closed = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) closed.abort(new ClientGone('the client has closed the connection'))
  })
  return closed.signal
}
