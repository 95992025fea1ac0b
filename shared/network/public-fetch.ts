import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import ipaddr from 'ipaddr.js'
import { askNameServers, askSystem } from './name-lookup.ts'

/** An address that only machines inside the network reach, or that is no ordinary address of the internet. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'
}

// The headers of the answer that a reader of documents may need.
const keptHeaders = ['cache-control', 'content-length', 'content-type', 'expires']

/**
 * Fetches an https address that a stranger has named, without following redirects. Names are resolved once, and the
 * connection goes to what was checked. Rejects with `PrivateAddressError` when an address is private, loopback,
 * link-local or otherwise special, unless `allowPrivate` is true. Then names are resolved as the operating system does,
 * otherwise by the name servers, which are those of the machine unless `nameServers` tells others. The caller bounds
 * time by `signal`, and the bytes of the body that it reads.
 */
export async function fetchPublic(
  address: string | URL,
  options: { headers: Headers; signal: AbortSignal; allowPrivate: boolean; nameServers?: readonly string[] },
): Promise<Response> {
  const { headers, signal, allowPrivate } = options
  const url = new URL(address)
  if (url.protocol !== 'https:') throw new TypeError('only https addresses are fetched')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Node.js does not look up a host that is an address already.
  if (!allowPrivate && isIP(host) !== 0) requirePublic([host])
  // Name servers need not know the names of this machine (RFC 6761).
  if (!allowPrivate && /(^|\.)localhost\.?$/.test(host)) requirePublic([])
  const sent = request(url, {
    agent: false,
    headers: Object.fromEntries(headers),
    signal,
    lookup: lookupFor(options),
  })
  sent.end()
  const [incoming] = (await once(sent, 'response')) as [IncomingMessage]
  const status = incoming.statusCode ?? 0
  if (status !== 200) {
    incoming.destroy()
    return new Response(null, { status: status >= 201 && status <= 599 ? status : 502 })
  }
  const kept = keptHeaders.flatMap((name) => (incoming.headers[name] ? [[name, String(incoming.headers[name])]] : []))
  return new Response(Readable.toWeb(incoming) as ReadableStream, { status, headers: Object.fromEntries(kept) })
}

// Resolves a name, and fails unless all its addresses are public or private addresses are allowed.
function lookupFor({ signal, allowPrivate, nameServers }: Parameters<typeof fetchPublic>[1]): LookupFunction {
  const publicAddresses = async (hostname: string) => {
    const addresses = await askNameServers(hostname, { signal, servers: nameServers })
    requirePublic(addresses.map(({ address }) => address))
    return addresses
  }
  return (hostname, options, callback) => {
    const resolved = allowPrivate
      ? askSystem(hostname, { signal, lookupOptions: { ...options, all: true } })
      : publicAddresses(hostname)
    resolved.then(
      (addresses) => {
        if (options.all) callback(null, addresses)
        else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
      },
      (error: Error) => callback(error, []),
    )
  }
}

function requirePublic(addresses: readonly string[]): void {
  if (addresses.length > 0 && addresses.every(isPublic)) return
  throw new PrivateAddressError('the address is not on the public internet')
}

// An IPv4 address that is written as IPv6 counts as what it is.
function isPublic(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast'
}
