import { Refusal } from '../../shared/errors/errors.ts'

/**
 * Returns the arguments that a call of a tool needs in this case. Refuses with 400 `invalid_request` when an argument
 * is absent, and names each absent argument and the case.
 */
export function needed<Args extends object, Name extends keyof Args & string>(
  args: Args,
  { names, when }: { names: readonly Name[]; when: string },
): { [Key in Name]: Exclude<Args[Key], undefined> } {
  const absent = names.filter((name) => args[name] === undefined)
  if (absent.length > 0) throw wrongArguments(absent.map((name) => ({ name, message: `is required ${when}` })))
  return args as unknown as { [Key in Name]: Exclude<Args[Key], undefined> }
}

/**
 * Returns which one of the named arguments a call of a tool has. Refuses with 400 `invalid_request` when the call has
 * none of them, or more than one.
 */
export function exactlyOne<Args extends object, Name extends keyof Args & string>(
  args: Args,
  names: readonly Name[],
): Name {
  const [given, ...others] = names.filter((name) => args[name] !== undefined)
  if (given !== undefined && others.length === 0) return given
  const message = `name exactly one of ${names.join(', ')}`
  throw wrongArguments([{ name: others[0] ?? names[0] ?? '', message }])
}

/**
 * The arguments of a call, with the id of each document that is named by its URI `svc://doc/{id}` or by the address of
 * its page, `/d/{id}`.
 */
export function withDocumentIds(args: unknown): unknown {
  if (typeof args !== 'object' || args === null) return args
  const entries = Object.entries(args).map(([name, value]) => {
    const named = name.endsWith('document_id') && typeof value === 'string' ? documentAddress.exec(value.trim()) : null
    return [name, named?.[1] ?? value]
  })
  return Object.fromEntries(entries)
}

const documentAddress = /^(?:svc:\/\/doc|(?:https?:\/\/[^/\s]+)?\/d)\/(doc_[^/?#\s]+)/i

/** The refusal of arguments that do not fit together; each message says what is allowed. */
export function wrongArguments(fields: { name: string; message: string }[]): Refusal<'invalid_request'> {
  return new Refusal('invalid_request', {
    details: { fields: fields.map(({ name, message }) => ({ path: `/${name}`, message })) },
  })
}
