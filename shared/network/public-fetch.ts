import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import ipaddr from 'ipaddr.js'
import { addressesOf } from './name-lookup.ts'

/** An address that only machines inside the network reach, or that is no ordinary address of the internet. */
export class PrivateAddressError extends Error {
  override readonly name = 'PrivateAddressError'
}

// The headers of the answer that a reader of documents may need.
const keptHeaders = ['cache-control', 'content-length', 'content-type', 'expires']

/**
 * Fetches an https address that a stranger has named, without following redirects. Names are resolved once, and the
 * connection goes to what was checked. Rejects with `PrivateAddressError` when an address is private, loopback,
 * link-local or otherwise special, unless `allowPrivate` is true. The caller bounds time by `signal`, and the bytes of
 * the body that it reads.
 */
export async function fetchPublic(
  address: string | URL,
  options: { headers: Headers; signal: AbortSignal; allowPrivate: boolean },
): Promise<Response> {
  const { headers, signal, allowPrivate } = options
  const url = new URL(address)
  if (url.protocol !== 'https:') throw new TypeError('only https addresses are fetched')
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Node.js does not look up a host that is an address already.
  if (!allowPrivate && isIP(host) !== 0) requirePublic([host])
  const sent = request(url, {
    agent: false,
    headers: Object.fromEntries(headers),
    signal,
    lookup: lookupFor({ signal, allowPrivate }),
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

// Resolves a name as Node.js does, and fails unless all its addresses are public or private addresses are allowed.
function lookupFor({ signal, allowPrivate }: { signal: AbortSignal; allowPrivate: boolean }): LookupFunction {
  return (hostname, options, callback) => {
    addressesOf(hostname, { signal, lookupOptions: { ...options, all: true } })
      .then((addresses) => {
        if (!allowPrivate) requirePublic(addresses.map(({ address }) => address))
        return addresses
      })
      .then(
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
