/**
 * Where to go after signing in: a path of this origin, or the tokens of the account when what was asked for is anything
 * else. Read by the rules by which browsers read a Location, so that nothing passes here that leads elsewhere there.
 */
export function nextPath(asked: string | null): string {
  if (asked === null || !asked.startsWith('/') || !URL.canParse(asked, origin)) return fallback
  const url = new URL(asked, origin)
  // A path such as /.//elsewhere.example loses its dot in reading and would then name a host.
  const isOwn = url.origin === origin && !url.pathname.startsWith('//')
  return isOwn ? url.pathname + url.search : fallback
}

const origin = 'http://service.invalid'
const fallback = '/account/tokens'
