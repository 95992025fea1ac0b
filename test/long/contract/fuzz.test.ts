import fc from 'fast-check'
import { sql } from 'slonik'
import Type from 'typebox'
import { errorsOf } from '../../../api/docs/route-errors.ts'
import { statusesOf } from '../../../api/http/errors.ts'
import type { Route } from '../../../api/http/route.ts'
import { routes } from '../../../api/routes/routes.ts'
import type { Database } from '../../../shared/database/database.ts'
import { row } from '../../../shared/database/row.ts'
import type { ErrorCode } from '../../../shared/errors/errors.ts'
import { type Attack, attackOn } from '../../contract/attacks.ts'
import { createFixture, withModel } from '../../contract/fixtures.ts'
import type { Reply } from '../../support/client.ts'
import { isLong } from '../../support/run-options.ts'
import { runsTimes } from '../../support/runs.ts'
import { startTestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'

// The most seconds of all routes together.
const seconds = isLong ? 60 : 6

const TableRow = row(Type.Object({ schemaname: Type.String(), tablename: Type.String() }))

t.test('no input whatsoever breaks an endpoint or leaves half a write behind', async (t) => {
  // Every successful deletion makes a new fixture.
  const { database, signUp } = await startTestService(t, { ...withModel, QUOTA_KNOWLEDGE_BASES: '100000' })
  const owner = await signUp()
  const untouched = await createFixture(owner)
  for (const spec of routes) {
    let fixture = spec.method === 'GET' ? untouched : await createFixture(owner)
    let before = await stateOf(database)
    const attempt = async (attack: Attack) => {
      const reply = await owner.call(spec.method, attack.path(fixture), attack.options(fixture))
      complain(spec, reply)
      const after = await stateOf(database, before)
      if (reply.status >= 400 && after.contents !== before.contents) {
        throw new Error(`refused with ${reply.text}, but something was written`)
      }
      const isGone = reply.status < 300 && (spec.method === 'DELETE' || spec.operationId === 'deleteDocuments')
      if (isGone) fixture = await createFixture(owner)
      before = isGone ? await stateOf(database, after) : after
    }
    let latest: Promise<void> = Promise.resolve()
    const property = fc.asyncProperty(attackOn(spec), (attack) => {
      latest = attempt(attack)
      return latest
    })
    const limits = { ...runsTimes(isLong ? 1 : 1 / 8), interruptAfterTimeLimit: (seconds * 1000) / routes.length }
    const outcome = await fc.check(property, limits)
    // An interrupted run goes on in the background and would write while the next route is tested.
    await latest.catch(() => {})
    t.comment(`${outcome.numRuns} runs`)
    // A timeout before the end of the first run is no fault of the route.
    const isBroken = outcome.failed && outcome.counterexample !== null
    t.notOk(isBroken, `${spec.method} ${spec.path}: ${isBroken ? reportOf(outcome) : 'holds'}`)
  }
})

function reportOf({ errorInstance, counterexample, seed, counterexamplePath }: fc.RunDetails<[Attack]>): string {
  const attack = fc.stringify(counterexample).slice(0, 1500)
  return `${errorInstance instanceof Error ? errorInstance.message : errorInstance} after ${attack} (${seed}, ${counterexamplePath})`
}

// Throws unless the description promises such an answer.
function complain(spec: Route, reply: Reply): void {
  const problem = (text: string) => new Error(`${text}: ${reply.status} ${reply.text.slice(0, 500)}`)
  if (reply.status >= 500) throw problem('a server error')
  if (reply.status === 204 || reply.status === 304) return
  const success = spec.success.find(({ status }) => status === reply.status)
  if (success?.media !== undefined || spec.stream) return
  if (!reply.headers.get('content-type')?.includes('json')) throw problem('not JSON')
  if (reply.body.request_id !== reply.headers.get('x-request-id')) throw problem('without its request id')
  if (reply.status < 300) return
  const code = reply.body.error.code as ErrorCode
  if (!statusesOf(code).includes(reply.status)) throw problem('a status that the code does not have')
  const isUndescribed = !['route_not_found', 'method_not_allowed'].includes(code)
  if (isUndescribed && !errorsOf(spec).get(reply.status)?.includes(code))
    throw problem('an error that is not described')
}

type State = { transaction: string; contents: string }

/**
 * A digest of every row of every table, including jobs. It leaves out the tables that record the use of tokens and
 * streams, and the ids that the sequencer gives to events later. While PostgreSQL has assigned no transaction id,
 * nothing can have changed.
 */
async function stateOf(database: Database, last?: State): Promise<State> {
  const transaction = String(
    await database.oneFirst(sql.unsafe`SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS xmax`),
  )
  if (transaction === last?.transaction) return last
  const tables = await database.any(sql.type(TableRow)`
    SELECT schemaname, tablename FROM pg_tables
    WHERE schemaname = 'public' AND tablename NOT IN ('tokens', 'rate_limit_windows', 'event_stream_leases')
      OR schemaname = 'pgboss' AND tablename = 'job'
    ORDER BY 1, 2`)
  const digests = tables.map(
    ({ schemaname, tablename }) => sql.fragment`
      SELECT ${tablename} || md5(coalesce(string_agg(line, '' ORDER BY line), '')) AS digest
      FROM ${sql.identifier([schemaname, tablename])} AS r, LATERAL (SELECT (to_jsonb(r) - 'event_id')::text AS line) AS l`,
  )
  const rows = await database.anyFirst(sql.unsafe`${sql.join([...digests], sql.fragment` UNION ALL `)}`)
  // PostgreSQL's parallel workers may return the rows in any order.
  return { transaction, contents: rows.toSorted().join() }
}
