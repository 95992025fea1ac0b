import { isIPv6 } from 'node:net'
import type { Request, Response } from 'express'
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

/**
 * Where a call comes from, as a key for counting. Of IPv6 only the first 64 bits count: a single caller has all the
 * addresses that share them.
 */
export function addressOf(request: Pick<Request, 'ip'>): string {
  const address = request.ip ?? 'unknown'
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  return isIPv6(address) ? `${networkOf(address)}::/64` : address
}

function networkOf(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::')
  const first = head.split(':').filter(Boolean)
  const last = tail?.split(':').filter(Boolean) ?? []
  const gap = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length)
  const groups = [...first, ...Array.from({ length: gap }, () => '0'), ...last].slice(0, 4)
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')
}
