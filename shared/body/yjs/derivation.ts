import { randomInt } from 'node:crypto'
import { type Doc, getState } from 'yjs'

/*
 * A Y document is derived once from the body of its document, and each derivation writes under a client id of its own.
 * The id has a mark, so a process sees in a state vector which derivation a Y document goes back to. Clients of Yjs
 * have random ids below 2^32. Future clients may have ids below 2^53, of which one in two million has the mark.
 */

// The upper 21 of the 53 bits of a client id that belongs to a derivation.
const mark = 0x0d0c5
const lower = 2 ** 32

/** A client id for a derivation. */
export function derivationClient(): number {
  return mark * lower + randomInt(lower)
}

/**
 * Whether the Y document with a state vector goes back to another derivation than `doc`. Merging both would bring every
 * block twice.
 */
export function hasOtherDerivation({ store }: Doc, stateVector: ReadonlyMap<number, number>): boolean {
  return [...stateVector.keys()].some((client) => Math.floor(client / lower) === mark && getState(store, client) === 0)
}
