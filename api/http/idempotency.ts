import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { keyedHash } from '../../shared/auth/keyed-hash.ts'
import type { Transaction } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import {
  type IdempotencyScope,
  lockIdempotencyKey,
  rememberAnswer,
  rememberedAnswer,
} from '../../shared/requests/queries.ts'
import type { Answer } from './route.ts'

/**
 * A request with an Idempotency-Key: the scope of the key, the digest of the content, and how long answers are kept.
 */
export type KeyedRequest = { scope: IdempotencyScope; fingerprint: Buffer; lifetimeHours: number }

/**
 * Reads the header Idempotency-Key, taken literally; null when the header was not sent. Refuses with 400
 * `invalid_idempotency_key` unless the key has 1 to 128 visible ASCII characters.
 */
export function parseIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  if (!/^[\x21-\x7e]{1,128}$/.test(header)) throw new Refusal('invalid_idempotency_key')
  return header
}

/**
 * The SHA-256 digest of a request's content: its body in the form of RFC 8785 and its sorted query. Two requests with
 * one key and the same digest are repetitions. If-Match is not part of the digest.
 */
export function fingerprintOf(body: unknown, query: URLSearchParams): Uint8Array {
  const parameters = [...query.entries()].sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
  return createHash('sha256')
    .update(canonicalText([body ?? {}, parameters]))
    .digest()
}

/**
 * The digest of a request's content under a secret of the service. This digest is stored: a body may hold a password,
 * which could be guessed from a plain digest.
 */
export function keyedFingerprint(secret: string, fingerprint: Uint8Array): Buffer {
  return keyedHash(secret, { purpose: 'idempotency', text: Buffer.from(fingerprint).toString('base64url') })
}

// RFC 8785 has no form for lone surrogates and for numbers beyond a double. When an ignored member holds such a value,
// a repetition is recognised only if its members come in the same order.
function canonicalText(value: unknown): string {
  try {
    return canonicalize(value) ?? ''
  } catch {
    return JSON.stringify(value)
  }
}

/**
 * Answers a request with a key by its stored answer (api/guide/idempotency.md#replays). Without a stored answer it runs
 * the request and stores the answer in the same transaction. When the request fails, this transaction is rolled back,
 * and the key can be used again. While the first request still runs, a repetition is refused with 409
 * `idempotency_in_progress`. A key that was used with another body is refused with 409 `idempotency_key_reused`. When
 * the caller has lost the workspace of a stored answer, the repetition is refused with 404 `workspace_not_found`. An
 * answer with `remembered` false is not stored, so its request runs again.
 */
export async function answerOnce(
  context: { tx: Transaction; visible: (workspaceId: string) => boolean },
  request: KeyedRequest,
  run: () => Promise<Answer & { status: number }>,
): Promise<Answer> {
  const { tx } = context
  const locked = await lockIdempotencyKey(tx, request.scope)
  if (!locked) throw new Refusal('idempotency_in_progress', { headers: { 'Retry-After': '1' } })
  const first = await rememberedAnswer(tx, { ...request.scope, lifetimeHours: request.lifetimeHours })
  if (first !== null) {
    if (!first.fingerprint.equals(request.fingerprint)) throw new Refusal('idempotency_key_reused')
    if (first.workspace_id !== null && !context.visible(first.workspace_id)) {
      throw new Refusal('workspace_not_found', { details: { id: first.workspace_id } })
    }
    return {
      status: first.status,
      ...(first.data !== null && { dataText: first.data }),
      etag: first.etag,
      location: first.location,
      headers: { 'Idempotent-Replayed': 'true' },
    }
  }
  const answer = await run()
  if (answer.remembered === false) return answer
  await rememberAnswer(tx, {
    ...request.scope,
    fingerprint: request.fingerprint,
    status: answer.status,
    data: answer.dataText ?? (answer.data === undefined ? null : JSON.stringify(answer.data)),
    etag: answer.etag ?? null,
    location: answer.location ?? null,
    workspaceId: answer.workspaceId ?? null,
  })
  return answer
}
