import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

/** The compiled form of a schema, made when it is asked for the first time: most members of most routes never are. */
export function validatorOf(schema: TSchema): Validator {
  let validator = validators.get(schema)
  if (validator === undefined) {
    validator = Compile(schema)
    validators.set(schema, validator)
  }
  return validator
}

const validators = new WeakMap<TSchema, Validator>()
