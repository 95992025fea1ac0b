import { Failure } from './failures.ts'

/** The origin of an address, such as `https://documents.example`. Throws a Failure for anything but http and https. */
export function originOf(address: string, source: string): string {
  const url = URL.parse(address)
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new Failure('usage', 'invalid_origin', {
      message: `${source} takes the address of a service, such as https://documents.example.`,
    })
  }
  return url.origin
}

/** Whether a token that is sent to the origin could be read on its way. */
export function isUnencrypted(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'http:' && !/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$|\.localhost$/.test(hostname)
}
