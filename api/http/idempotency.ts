import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Transaction } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import {
  type IdempotencyScope,
  lockIdempotencyKey,
  rememberAnswer,
  rememberedAnswer,
} from '../../shared/requests/queries.ts'
import type { Answer } from './route.ts'

/** One keyed request: where its key counts and what its content is. */
export type KeyedRequest = { scope: IdempotencyScope; fingerprint: Buffer; lifetimeHours: number }

/** Reads the Idempotency-Key header, taken literally (decisions 2.0). */
export function parseIdempotencyKey(header: string | undefined): string | null {
  if (header === undefined) return null
  if (!/^[\x21-\x7e]{1,128}$/.test(header)) throw new Refusal('invalid_idempotency_key')
  return header
}

/** What makes two requests the same: RFC 8785 body and sorted query. If-Match is not part of it. */
export function fingerprintOf(body: unknown, query: URLSearchParams): Uint8Array {
  const parameters = [...query.entries()].sort(([a, x], [b, y]) => (a === b ? (x < y ? -1 : 1) : a < b ? -1 : 1))
  return createHash('sha256')
    .update(canonicalText([body ?? {}, parameters]))
    .digest()
}

// RFC 8785 has no form for lone surrogates and numbers beyond a double. Where an ignored member holds one, a repetition
// counts as the same only when its members come in the same order.
function canonicalText(value: unknown): string {
  try {
    return canonicalize(value) ?? ''
  } catch {
    return JSON.stringify(value)
  }
}

/**
 * Answers a keyed request from memory, or runs it and remembers its answer in the same transaction: an error releases
 * the key. A duplicate in flight, and a key that was used with another body, are refused with 409. A replay whose
 * workspace the caller has lost since is 404.
 */
export async function answerOnce(
  context: { tx: Transaction; visible: (workspaceId: string) => boolean },
  request: KeyedRequest,
  run: () => Promise<Answer & { status: number }>,
): Promise<Answer> {
  const { tx } = context
  if (!(await lockIdempotencyKey(tx, request.scope))) {
    throw new Refusal('idempotency_in_progress', { headers: { 'Retry-After': '1' } })
  }
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
