import { type TObject, Type } from 'typebox'
import type { Caller } from '../../shared/auth/caller.ts'
import { type Ahead, computingAhead } from '../../shared/computations/ahead.ts'
import { inRehearsal, type Transaction } from '../../shared/database/database.ts'
import { requireScopes } from './authenticate.ts'
import { type Answer, isRead, type Rehearsal, type Route, type UntypedCall } from './route.ts'

/**
 * The query parameters that a route reads. Every write knows `dry_run`. Where a write cannot be rehearsed, only `false`
 * is allowed: an unknown parameter would be ignored, and the write would really happen.
 */
export function queryOf(spec: Route): TObject {
  const { query = noParameters, rehearsal } = spec
  if (isRead(spec)) return query
  const known = writeQueries.get(spec)
  if (known !== undefined) return known
  const dryRun = rehearsal === undefined ? notOffered : offered(rehearsal)
  const made = Type.Object({ ...query.properties, dry_run: dryRun })
  writeQueries.set(spec, made)
  return made
}

// One schema a route, so that its validator is compiled once.
const writeQueries = new WeakMap<Route, TObject>()

/** The query parameters of a route that the documentation shows. */
export function publishedQuery(spec: Route): TObject | undefined {
  return spec.rehearsal === undefined ? spec.query : queryOf(spec)
}

/** Whether the query of a write asks for a rehearsal. */
export function isRehearsal(query: object): boolean {
  return (query as { dry_run?: boolean }).dry_run === true
}

/**
 * Refuses a rehearsal with 403 `insufficient_scope` unless the token may also read what the rehearsal shows. The scopes
 * of the route alone allow the write, whose answer shows less.
 */
export function requireRehearsalScopes({ scopes, rehearsal }: Route, caller: Caller): void {
  if (rehearsal !== undefined) requireScopes(caller, [...scopes, ...rehearsal.scopes])
}

/**
 * Runs a write of a route that has a rehearsal: the same code as for the real write, in a transaction that is undone.
 * Returns the answer of the write with `diff` as the last member of `data`, and with the header Dry-Run. The difference
 * is computed when no lock is held any more.
 */
export async function rehearse({ compare }: Rehearsal, { call, write }: Rehearsed): Promise<Answer> {
  const { answer, diff } = await computingAhead((ahead) =>
    inRehearsal(call.service.database, async (tx) => {
      const answer = await write(tx, ahead)
      return { answer, diff: await compare(tx, call) }
    }),
  )
  const { data, dataText = JSON.stringify(data), ...rest } = answer
  const headers = { ...answer.headers, 'Dry-Run': 'true' }
  return { ...rest, headers, dataText: `${dataText.slice(0, -1)},"diff":${await diff()}}` }
}

type Rehearsed = {
  call: Pick<UntypedCall, 'service' | 'caller' | 'params'>
  write: (tx: Transaction, ahead: Ahead) => Promise<Answer>
}

const noParameters = Type.Object({})

function offered({ scopes }: Rehearsal) {
  const needed = scopes.map((scope) => `\`${scope}\``).join(', ')
  const description = `rehearse the write: everything but the commit, and the answer has \`diff\`; needs ${needed}, too`
  return Type.Optional(Type.Boolean({ default: false, description }))
}

const notOffered = Type.Optional(
  Type.Refine(
    Type.Boolean(),
    (value) => value === false,
    () => 'must be false: this endpoint has no rehearsal',
  ),
)
