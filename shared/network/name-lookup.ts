import type { LookupAddress, LookupAllOptions } from 'node:dns'
import { lookup } from 'node:dns/promises'
import pLimit from 'p-limit'

// A look-up holds one of the four threads that Node.js has for files, passwords and names. It holds the thread until
// the name server answers or the operating system gives up, even after the request has been given up.
const turns = pLimit(2)

/**
 * Resolves a name that a stranger has chosen to all its addresses. At most two look-ups run at a time in a process, so
 * that name servers which never answer leave threads to other work. A look-up that still waits when `signal` aborts
 * never runs. Rejects with the reason of `signal`, or as `resolve` does.
 */
export function addressesOf(
  hostname: string,
  options: {
    signal: AbortSignal
    lookupOptions: LookupAllOptions
    resolve?: (hostname: string, options: LookupAllOptions) => Promise<LookupAddress[]>
  },
): Promise<LookupAddress[]> {
  const { signal, lookupOptions, resolve = lookup } = options
  return turns(() => {
    signal.throwIfAborted()
    return resolve(hostname, lookupOptions)
  })
}
