import { connect } from 'node:net'

// What our clients make of the modes of libpq. Wherever libpq verifies less, they verify more.
const sslModes: Record<string, string> = {
  disable: 'disable',
  'no-verify': 'no-verify',
  require: 'require',
  'verify-ca': 'require',
  'verify-full': 'require',
}
// Modes that leave the choice to the server, by the address of the server: whether it speaks TLS.
const speaksTls = new Map<string, boolean>()
const isOpen = (mode: string | null) => mode === 'prefer' || mode === 'allow'

/**
 * Returns the URL of a database in the form that node-postgres and slonik both understand. It may have any form that
 * libpq takes, but for several hosts: an IPv6 address in brackets, a folder of Unix sockets, and the parameters `host`,
 * `port`, `user`, `password`, `dbname`, `sslmode` and `ssl`. Throws a TypeError for an address that makes no sense.
 */
export function databaseAddress(text: string): string {
  // The parser of URLs refuses a user without a host.
  const complete = new URL(text.replace(/^(postgres(?:ql)?:\/\/[^/?#]*@)(?=[:/?]|$)/, '$1placeholder.invalid'))
  const { searchParams } = complete
  const take = (name: string) => {
    const value = searchParams.get(name)
    searchParams.delete(name)
    return value
  }
  const host = take('host') ?? complete.hostname.replace(/^placeholder\.invalid$/, '').replace(/^\[(.*)\]$/, '$1')
  if (host.includes(',')) throw new TypeError('one host is allowed')
  // Without a host, the parser would drop user and password.
  complete.hostname = host.includes('%') ? host : encodeURIComponent(host || 'localhost')
  complete.port = take('port') ?? complete.port
  const user = take('user')
  if (user !== null) complete.username = encodeURIComponent(user)
  const password = take('password')
  if (password !== null) complete.password = encodeURIComponent(password)
  const name = take('dbname')
  if (name !== null) complete.pathname = `/${encodeURIComponent(name)}`
  const ssl = take('ssl')
  const mode = searchParams.get('sslmode') ?? (ssl === null ? null : (sslOf[ssl] ?? ssl))
  if (isOpen(mode)) searchParams.set('sslmode', speaksTls.get(complete.host) ? 'no-verify' : 'disable')
  else if (mode !== null) {
    const known = sslModes[mode]
    if (known === undefined) throw new TypeError('sslmode is disable, allow, prefer, require, verify-ca or verify-full')
    searchParams.set('sslmode', known)
  }
  return complete.href
}

const sslOf: Record<string, string> = { true: 'require', '1': 'require', false: 'disable', '0': 'disable' }

/**
 * Asks the server of a URL with `sslmode=prefer` or `allow` whether it speaks TLS. From then on, `databaseAddress`
 * knows the answer. To be called before the first connection of a process. An unreachable server is asked again.
 */
export async function chooseTls(url: string): Promise<void> {
  const { host, hostname, port } = new URL(databaseAddress(url))
  if (!isOpen(new URLSearchParams(url.split('?')[1]).get('sslmode')) || speaksTls.has(host)) return
  const address = decodeURIComponent(hostname)
  if (address.startsWith('/')) return
  const answer = await new Promise<string>((resolve) => {
    const socket = connect({ host: address, port: Number(port || 5432), timeout: 5000 })
    const end = (text: string) => {
      socket.destroy()
      resolve(text)
    }
    // The request for TLS of PostgreSQL's protocol. The answer is one letter, `S` or `N`.
    socket.on('connect', () => socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])))
    socket.on('data', (data) => end(data.toString('latin1', 0, 1)))
    socket.on('timeout', () => end(''))
    socket.on('error', () => end(''))
  })
  if (answer !== '') speaksTls.set(host, answer === 'S')
}
