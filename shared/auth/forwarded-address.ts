import type { IncomingMessage } from 'node:http'
import { keyedHash, sameText } from './keyed-hash.ts'

/** The header in which a process of the service tells another process of whom it hands on a connection. */
export const handedOnHeader = 'svc-handed-on-for'

/** The value of that header: the address, signed with a secret of the service, so that no client can make it. */
export function handedOnFor(secret: string, address: string): string {
  return `${address} ${signatureOf(secret, address)}`
}

/**
 * The address of the client behind a request: the address for which a process of the service handed the connection on,
 * else the address that the outermost of `proxies` trusted proxies names in X-Forwarded-For, else the peer's own.
 */
export function clientAddress(
  request: Pick<IncomingMessage, 'headers' | 'socket'>,
  trust: { secret: string; proxies: number },
): string {
  const [address = '', signature = ''] = String(request.headers[handedOnHeader] ?? '').split(' ')
  if (address !== '' && sameText(signature, signatureOf(trust.secret, address))) return address
  const forwarded = String(request.headers['x-forwarded-for'] ?? '')
  const named = forwarded.split(',').flatMap((part) => part.trim() || [])
  const chain = [request.socket.remoteAddress ?? 'unknown', ...named.reverse()]
  return chain[Math.min(trust.proxies, chain.length - 1)] ?? 'unknown'
}

function signatureOf(secret: string, address: string): string {
  return keyedHash(secret, { purpose: 'handed-on', text: address }).toString('base64url')
}
