import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Static, TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'
import { Check, Errors } from 'typebox/value'

/** A TypeBox schema as Standard Schema, which slonik checks on every row that a statement returns. */
export type RowSchema<T extends TSchema> = StandardSchemaV1<unknown, Static<T>>

/**
 * Turns a TypeBox schema into a row schema for `sql.type(row(Type.Object({…})))`, since TypeBox 1.4 does not implement
 * Standard Schema. A row that does not match is a bug in the statement; the error names the first failing column.
 *
 * Each schema is compiled once, so a function that runs often takes its schema from a constant.
 */
export function row<T extends TSchema>(schema: T): RowSchema<T> {
  const known = made.get(schema)
  if (known !== undefined) return known as RowSchema<T>
  const compiled = make(schema)
  made.set(schema, compiled)
  return compiled
}

const made = new WeakMap<TSchema, RowSchema<TSchema>>()

function make<T extends TSchema>(schema: T): RowSchema<T> {
  let validator: Validator | null = null
  let checked = 0
  const check = (value: unknown): boolean => {
    if (validator !== null) return validator.Check(value)
    checked += 1
    if (checked > uncompiledRows) validator = Compile(schema)
    return Check(schema, value)
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'typebox',
      validate: (value) => {
        if (check(value)) return { value: value as Static<T> }
        const [error] = Errors(schema, value)
        return { issues: [{ message: `${error?.instancePath ?? ''} ${error?.message ?? 'does not match'}`.trim() }] }
      },
    },
  }
}

// The number of rows that a schema checks before it is compiled. Compiling costs as much as ten checks by a schema that
// is not compiled.
const uncompiledRows = 10
