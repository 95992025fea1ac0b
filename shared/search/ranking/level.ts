/** Which blocks with a term: 0 all of them, 1 (widest) to 4 those in which it is on a tier. */
export type Rung = 0 | 1 | 2 | 3 | 4

/** Which matches ranking looks at. */
export type Level = {
  /** On which rung each of the terms is enough for that by itself; null: on none. */
  alone: readonly (Rung | null)[]
  /** On which rung any two terms are enough together; null: on none. */
  paired: Rung | null
  /** Whether the rows are looked at for the words, and the index for what is on the level alone. */
  inRows: boolean
  /** How many matches there may be; null where it is not known. */
  size: number | null
}

/** Whether a level is that of all matches. */
export function isAll({ alone }: Level): boolean {
  return alone.every((rung) => rung === 0)
}
