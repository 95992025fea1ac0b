import { isIPv6 } from 'node:net'
import type { Request, Response } from 'express'

/** The reason of an aborted call: its client no longer waits for the answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

const signals = new WeakMap<Response, AbortSignal>()

/** The signal that aborts with `ClientGone` when the client closes the connection before it has its answer. */
export function closeSignal(response: Response): AbortSignal {
  const known = signals.get(response)
  if (known !== undefined) return known
  const closed = new AbortController()
  signals.set(response, closed.signal)
  response.once('close', () => {
    if (!response.writableFinished) closed.abort(new ClientGone('the client has closed the connection'))
  })
  return closed.signal
}

/**
 * The address of a call, as the key of rate limits. Of an IPv6 address only the first 64 bits count, because one caller
 * has all addresses that share these bits.
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
