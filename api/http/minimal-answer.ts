import { IsObject, type TObject, type TSchema, Type } from 'typebox'
import { type Answer, isRead, type Route, type Success } from './route.ts'

/**
 * Whether a write can be answered by its outcome alone, for the preference `return=minimal`. Writes to bodies and
 * writes that answer with a record can; other answers are small or have no id to be read by.
 */
export function offersMinimal(spec: Route): boolean {
  if (isRead(spec) || spec.access === 'anyone') return false
  return spec.success.some((success) => minimalSchema(success) !== null)
}

/** Whether the header Prefer asks for `return=minimal` (RFC 7240). Of several preferences `return` the first counts. */
export function prefersMinimal(header: string | string[] | undefined): boolean {
  const preference = returnPreference.exec(header === undefined ? '' : String(header))
  return (preference?.[1] ?? preference?.[2])?.toLowerCase() === 'minimal'
}

const returnPreference = /(?:^|,)[ \t]*return[ \t]*=[ \t]*(?:"([^"]*)"|([^\s",;]+))/i

/**
 * The same answer with the minimal `data` and the header Preference-Applied. An answer that cannot be smaller stays as
 * it is. Warnings stay, unless there are none.
 */
export function minimalAnswer(spec: Route, answer: Answer & { status: number }): Answer & { status: number } {
  const success = spec.success.find(({ status }) => status === answer.status)
  const schema = success === undefined ? null : minimalSchema(success)
  const data = schema === null ? null : (answer.minimal?.() ?? recordOf(schema, answer.data as Members))
  if (data === null) return answer
  const { dataText: _, ...rest } = answer
  return { ...rest, data: withoutNone(data), headers: { ...answer.headers, 'Preference-Applied': 'return=minimal' } }
}

/** The schema of `data` in the minimal answer to a write; null where there is no smaller answer. */
export function minimalSchema({ data, minimal }: Success): TObject | null {
  return minimal ?? (data === null ? null : recordSchema(data))
}

type Members = Record<string, unknown>

// A record is known by its id and its version. A public link calls its id `share_id`. A summary has no id of its own,
// but a target.
const identities = [['id', 'version', 'warnings'], ['share_id'], ['target', 'summary_version']]

// The schema of a record, or of an object of records.
function recordSchema(schema: TSchema): TObject | null {
  if (!IsObject(schema)) return null
  const { properties } = schema
  const kept = identities.find(([id = '']) => Object.hasOwn(properties, id))
  if (kept !== undefined) {
    const members = kept.filter((name) => Object.hasOwn(properties, name))
    return Type.Object(Object.fromEntries(members.map((name) => [name, memberOf(name, properties[name] as TSchema)])))
  }
  const records = Object.entries(properties).map(([name, member]) => [name, recordSchema(member)] as const)
  if (records.length === 0 || records.some(([, record]) => record === null)) return null
  return Type.Object(Object.fromEntries(records as [string, TObject][]))
}

function memberOf(name: string, schema: TSchema): TSchema {
  return name === 'warnings' ? Type.Optional(schema) : schema
}

function recordOf({ properties }: TObject, data: Members): Members {
  const isRecord = identities.some(([id = '']) => Object.hasOwn(properties, id))
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [
      name,
      isRecord ? data[name] : recordOf(schema as TObject, data[name] as Members),
    ]),
  )
}

function withoutNone(data: Members | object): Members {
  const { warnings, ...rest } = data as Members & { warnings?: readonly unknown[] }
  return warnings === undefined || warnings.length === 0 ? rest : { ...rest, warnings }
}
