import { sql } from '../../database/database.ts'
import type { Fragment } from './conditions.ts'

type Value = string | number | boolean | null

/**
 * A piece of a long SQL statement, made of smaller pieces. Nested fragments of slonik would be slow: each level numbers
 * the parameters anew, and so reads the text of all smaller fragments again. Pieces are put together only once, in
 * `fragmentOf`.
 */
export class Piece {
  readonly texts: readonly string[]
  readonly values: readonly Value[]

  constructor(texts: readonly string[], values: readonly Value[]) {
    this.texts = texts
    this.values = values
  }
}

/** Makes a piece of a template with values and other pieces. */
export function piece(texts: readonly string[], ...parts: readonly (Value | Piece)[]): Piece {
  const all = [texts[0] ?? '']
  const values: Value[] = []
  const append = (text: string) => {
    all[all.length - 1] += text
  }
  for (const [index, part] of parts.entries()) {
    if (part instanceof Piece) {
      append(part.texts[0] ?? '')
      all.push(...part.texts.slice(1))
      values.push(...part.values)
    } else {
      all.push('')
      values.push(part)
    }
    append(texts[index + 1] ?? '')
  }
  return new Piece(all, values)
}

/** Puts a separator between pieces. */
export function joined(pieces: readonly Piece[], separator: string): Piece {
  return piece(['', ...pieces.slice(1).map(() => separator), ''], ...pieces)
}

/** Makes a fragment of a piece, for a statement of slonik. */
export function fragmentOf({ texts, values }: Piece): Fragment {
  const template = Object.assign([...texts], { raw: Object.freeze([...texts]) })
  return sql.fragment(template, ...values)
}
