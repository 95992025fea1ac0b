import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'

/** A TypeBox schema in the shape slonik takes (Standard Schema), checked on every row that a statement returns. */
export type RowSchema<T extends TSchema> = StandardSchemaV1<unknown, Static<T>>

/**
 * Makes `sql.type(row(Type.Object({…})))` possible: TypeBox 1.4 does not implement Standard Schema itself. A row that
 * does not match is a bug in the statement, reported with the first failing column.
 */
export function row<T extends TSchema>(schema: T): RowSchema<T> {
  const validator = Compile(schema)
  return {
    '~standard': {
      version: 1,
      vendor: 'typebox',
      validate: (value) => {
        if (validator.Check(value)) return { value: value as Static<T> }
        const [error] = validator.Errors(value)
        return { issues: [{ message: `${error?.instancePath ?? ''} ${error?.message ?? 'does not match'}`.trim() }] }
      },
    },
  }
}
