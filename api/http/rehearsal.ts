import { type TObject, type TSchema, Type } from 'typebox'
import type { Transaction } from '../../shared/database/database.ts'
import type { Answer, Route, UntypedCall } from './route.ts'

/**
 * A declaration of what the answer of a rehearsed write shows beside the members of the real answer: the member `diff`
 * of `data`. The chapter api/guide/writes.md#rehearsals says what callers can rely on.
 */
export type Rehearsal = {
  /** The schema of `diff`. */
  diff: TSchema
  /**
   * Reads what the write has changed, inside its transaction and behind its handler. The pipeline calls the returned
   * function when the transaction is undone and no lock is held. That function resolves to `diff` as JSON text.
   */
  compare: (tx: Transaction, call: Pick<UntypedCall, 'caller' | 'params'>) => Promise<() => Promise<string>>
}

/**
 * The query parameters that a route reads. Every write knows `dry_run`. Where a write cannot be rehearsed, only `false`
 * is allowed: an unknown parameter would be ignored, and the write would really happen.
 */
export function queryOf(spec: Route): TObject {
  const { method, query = noParameters, rehearsal } = spec
  if (method === 'GET') return query
  return Type.Object({ ...query.properties, dry_run: rehearsal === undefined ? notOffered : offered })
}

/** The query parameters of a route that the documentation shows. */
export function publishedQuery(spec: Route): TObject | undefined {
  return spec.rehearsal === undefined ? spec.query : queryOf(spec)
}

/** Whether the query of a write asks for a rehearsal. */
export function isRehearsal(query: object): boolean {
  return (query as { dry_run?: boolean }).dry_run === true
}

/**
 * The answer of a rehearsed write: the answer of the write with `diff`, given as JSON text, as the last member of
 * `data`, and with the header Dry-Run.
 */
export function withDiff(answer: Answer, diff: string): Answer {
  const { data, dataText = JSON.stringify(data), ...rest } = answer
  const headers = { ...answer.headers, 'Dry-Run': 'true' }
  return { ...rest, headers, dataText: `${dataText.slice(0, -1)},"diff":${diff}}` }
}

const noParameters = Type.Object({})

const offered = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'rehearse the write: everything but the commit, and the answer has `diff`',
  }),
)

const notOffered = Type.Optional(
  Type.Refine(
    Type.Boolean(),
    (value) => value === false,
    () => 'must be false: this endpoint has no rehearsal',
  ),
)
