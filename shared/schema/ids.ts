import { monotonicFactory } from 'ulid'

// One factory a process: ids made within the same millisecond still sort in the order they were made.
const nextUlid = monotonicFactory()

/** The 26 characters of a ULID, upper-case Crockford base32 (decisions 2.1). */
export const ulidPattern = '[0-9A-HJKMNP-TV-Z]{26}'

/** Pattern of a block id (specification 2.1). Client ids are compared literally, never decoded. */
export const blockIdPattern = `^block_${ulidPattern}$`

/** Pattern of a document id, whether the service or the client made it (decisions 2.3). */
export const documentIdPattern = '^doc_[A-Za-z0-9_-]{1,64}$'

/** The prefixes of decisions 2.1; an id is always `<prefix>_<ULID>`. */
export type IdPrefix =
  | 'alias'
  | 'att'
  | 'aud'
  | 'block'
  | 'cand'
  | 'concept'
  | 'crel'
  | 'doc'
  | 'docset'
  | 'rel'
  | 'req'
  | 'shr'
  | 'sjob'
  | 'tjob'
  | 'tok'
  | 'tu'
  | 'usr'
  | 'ws'

/** A new id such as `doc_01J…`; ids of one process sort by the time they were made. */
export function newId(prefix: IdPrefix): string {
  return `${prefix}_${nextUlid()}`
}
