import { monotonicFactory } from 'ulid'

// The library asks for sixteen random numbers an id. Asking the system for each number would cost forty times as much,
// so these bytes are drawn at once. Browsers load this file, too, so it uses what Node and browsers share.
const randomBytes = new Uint8Array(4096)
let used = randomBytes.length

// One factory for the process, so that ids made within one millisecond also sort in the order in which they were made.
const nextUlid = monotonicFactory(randomFraction)

/** Pattern of the 26 characters of a ULID: upper-case Crockford base32. */
export const ulidPattern = '[0-9A-HJKMNP-TV-Z]{26}'

/** Pattern of a block id. Ids that clients chose are compared literally and never decoded. */
export const blockIdPattern = `^block_${ulidPattern}$`

/** Pattern of a document id. The service or a client may have made the id. */
export const documentIdPattern = '^doc_[A-Za-z0-9_-]{1,64}$'

/** The prefixes of ids. An id that the service makes is `<prefix>_<ULID>`. */
export type IdPrefix =
  | 'alias'
  | 'att'
  | 'aud'
  | 'block'
  | 'cand'
  | 'client'
  | 'concept'
  | 'crel'
  | 'doc'
  | 'docset'
  | 'grant'
  | 'rel'
  | 'req'
  | 'shr'
  | 'sjob'
  | 'tjob'
  | 'tok'
  | 'trash'
  | 'tu'
  | 'usr'
  | 'ws'

/** A new id, such as `doc_01J…`. The ids that one process makes sort by time. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${nextUlid()}`
}

// A number from 0 to below 1 of eight random bits. The library uses five of these bits.
function randomFraction(): number {
  if (used === randomBytes.length) {
    crypto.getRandomValues(randomBytes)
    used = 0
  }
  const byte = randomBytes[used] ?? 0
  used += 1
  return byte / 256
}
