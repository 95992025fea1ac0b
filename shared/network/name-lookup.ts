import type { LookupAddress, LookupAllOptions } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'
import pLimit from 'p-limit'

/**
 * Resolves a name that a stranger has chosen to all its addresses, by questions to name servers. A question holds no
 * thread, and ends when `signal` aborts, so servers that never answer keep nobody else waiting. Names of `/etc/hosts`
 * are not found. `servers` are the name servers, as `address:port`, in place of those of the machine. Rejects with the
 * reason of `signal`, or with the error of `node:dns`.
 */
export async function askNameServers(
  hostname: string,
  { signal, servers }: { signal: AbortSignal; servers?: readonly string[] | undefined },
): Promise<LookupAddress[]> {
  signal.throwIfAborted()
  const resolver = new Resolver({ timeout: 1000, tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  signal.addEventListener('abort', () => resolver.cancel(), { once: true })
  const ipv4 = resolver.resolve4(hostname).then((found) => found.map((address) => ({ address, family: 4 })))
  const ipv6 = resolver.resolve6(hostname).then((found) => found.map((address) => ({ address, family: 6 })))
  const answers = await Promise.allSettled([ipv4, ipv6])
  signal.throwIfAborted()
  const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  return addresses.length > 0 ? addresses : ipv4
}

// A look-up holds one of the four threads that Node.js has for files, passwords and names. It holds the thread until
// the name server answers or the operating system gives up, even after the request has been given up.
const turns = pLimit(2)

/**
 * Resolves a name that a stranger has chosen to all its addresses, as the operating system does. It also uses
 * `/etc/hosts` and the domains of the own network. At most two look-ups run at a time in a process, so that name
 * servers which never answer leave threads to other work. A look-up that still waits when `signal` aborts never runs.
 * Rejects with the reason of `signal`, or as `resolve` does.
 */
export function askSystem(
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
