import Type from 'typebox'
import { type Queryable, sql, type Transaction } from '../../database/database.ts'
import { row } from '../../database/row.ts'
import type { Scope } from '../scopes.ts'

const scopeList = Type.Array(Type.Unsafe<Scope>(Type.String()))
const nullableText = Type.Union([Type.String(), Type.Null()])

/**
 * Lets one request of an address run at a time. Otherwise simultaneous requests could together exceed the limit of
 * pending codes.
 */
export async function lockAddress(tx: Transaction, address: string): Promise<void> {
  await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(hashtextextended(${`device ${address}`}, 0))`)
}

const PendingRow = row(
  Type.Object({ pending: Type.Integer(), next_free_seconds: Type.Union([Type.Number(), Type.Null()]) }),
)

/**
 * Counts the codes of an address that wait for their users, and tells in how many seconds the first of them expires.
 */
export function pendingOf(tx: Transaction, address: string) {
  return tx.one(sql.type(PendingRow)`
    SELECT count(*)::int AS pending, extract(epoch FROM min(expires_at) - now())::float8 AS next_free_seconds
    FROM device_codes WHERE address = ${address} AND status = 'pending' AND expires_at > now()`)
}

/** Stores a pending authorization; false when another authorization has the same user code. */
export async function insertDeviceCode(
  tx: Transaction,
  code: {
    deviceCodeHash: Buffer
    userCodeHash: Buffer
    clientName: string | null
    scopes: readonly Scope[]
    address: string
    intervalSeconds: number
    lifetimeSeconds: number
  },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.unsafe`
    INSERT INTO device_codes
      (device_code_hash, user_code_hash, client_name, requested_scopes, address, interval_seconds, expires_at)
    VALUES (${sql.binary(code.deviceCodeHash)}, ${sql.binary(code.userCodeHash)}, ${code.clientName},
      ${sql.array([...code.scopes], 'text')}, ${code.address}, ${code.intervalSeconds},
      now() + make_interval(secs => ${code.lifetimeSeconds}))
    ON CONFLICT (user_code_hash) DO NOTHING`)
  return rowCount === 1
}

const PollRow = row(
  Type.Object({
    status: Type.Enum(['pending', 'approved', 'denied']),
    expired: Type.Boolean(),
    too_soon: Type.Boolean(),
    interval_seconds: Type.Integer(),
  }),
)

/**
 * Notes a poll and returns the state that it found; null for a code that is unknown or was exchanged. While the user
 * has not decided, a poll that comes before the interval is over makes the interval `stepSeconds` longer for good.
 */
export function notePoll(db: Queryable, poll: { deviceCodeHash: Buffer; stepSeconds: number; graceSeconds: number }) {
  return db.maybeOne(sql.type(PollRow)`
    WITH polled AS (
      SELECT device_code_hash, status, expires_at <= clock_timestamp() AS expired,
        status = 'pending' AND expires_at > clock_timestamp() AND coalesce(last_polled_at
          > clock_timestamp() - make_interval(secs => interval_seconds - ${poll.graceSeconds}::float8), false) AS too_soon
      FROM device_codes
      WHERE device_code_hash = ${sql.binary(poll.deviceCodeHash)} AND status <> 'exchanged'
      FOR UPDATE)
    UPDATE device_codes d SET
      last_polled_at = clock_timestamp(),
      interval_seconds = d.interval_seconds + CASE WHEN p.too_soon THEN ${poll.stepSeconds}::int ELSE 0 END
    FROM polled p WHERE d.device_code_hash = p.device_code_hash
    RETURNING p.status, p.expired, p.too_soon, d.interval_seconds`)
}

const GrantRow = row(Type.Object({ user_id: Type.String(), granted_scopes: scopeList, client_name: nullableText }))

/** Uses up an approved code and returns its grant; null when another poll was faster. */
export function takeGrant(tx: Transaction, deviceCodeHash: Buffer) {
  return tx.maybeOne(sql.type(GrantRow)`
    UPDATE device_codes SET status = 'exchanged'
    WHERE device_code_hash = ${sql.binary(deviceCodeHash)} AND status = 'approved' AND expires_at > now()
    RETURNING user_id, granted_scopes, client_name`)
}

const RequestRow = row(Type.Object({ client_name: nullableText, requested_scopes: scopeList }))

/** The pending authorization of a user code; null when there is none, or when it has ended. */
export function pendingRequest(db: Queryable, userCodeHash: Buffer) {
  return db.maybeOne(sql.type(RequestRow)`
    SELECT client_name, requested_scopes FROM device_codes
    WHERE user_code_hash = ${sql.binary(userCodeHash)} AND status = 'pending' AND expires_at > now()`)
}

/** Records the decision of the user; `scopes` null is a refusal. The result is false when nothing is pending. */
export async function decide(
  db: Queryable,
  decision: { userCodeHash: Buffer; userId: string; scopes: readonly Scope[] | null },
): Promise<boolean> {
  const granted = decision.scopes === null ? null : sql.array([...decision.scopes], 'text')
  const { rowCount } = await db.query(sql.unsafe`
    UPDATE device_codes SET
      status = ${decision.scopes === null ? 'denied' : 'approved'}, user_id = ${decision.userId},
      granted_scopes = ${granted}
    WHERE user_code_hash = ${sql.binary(decision.userCodeHash)} AND status = 'pending' AND expires_at > now()`)
  return rowCount === 1
}
