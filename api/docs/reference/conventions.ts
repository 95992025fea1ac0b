import { scopes } from '../../../shared/auth/scopes.ts'
import type { Config } from '../../../shared/config/config.ts'
import { apiPrefix } from '../../http/route.ts'
import { table } from './table.ts'

/** A chapter in prose, as Markdown. */
type Convention = { title: string; text: string }

/** The chapters on the rules of every endpoint, with the limits of this service. */
export function conventions(config: Config): Convention[] {
  const chapters = [
    { title: 'Conventions', text: general(config) },
    { title: 'Authentication', text: authentication },
    { title: 'Envelopes', text: envelopes },
    { title: 'Rate limits', text: `${rateLimits}\n\n${rateTable(config)}` },
    { title: 'Pagination', text: pagination },
    { title: 'Idempotency', text: idempotency(config) },
    { title: 'Concurrency', text: concurrency },
  ]
  return chapters.map(({ title, text }) => ({ title, text: text.trim() }))
}

const general = (config: Config) => `
All paths are below \`${config.PUBLIC_ORIGIN}${apiPrefix}\`. Bodies are JSON objects in UTF-8. Unknown query parameters
and unknown members of bodies are ignored; a query parameter that is repeated is refused, and so is \`dry_run=true\` where
no rehearsal is offered. Every GET but that of the event
stream also serves HEAD, and OPTIONS names the methods of a path. Times are Unix milliseconds. Lengths of strings count
Unicode code points. Ids of knowledge bases and folders are integers in answers and may be sent as decimal strings.

Some endpoints are extensions: this service offers them beyond the version of the interface that it implements, and
another service of that version may lack them. All rules of this reference hold for extensions, too. The OpenAPI
description marks their operations with \`x-extension: true\`.`

const authentication = `
Every call carries \`Authorization: Bearer <token>\`. Three calls need no token: the two of the device flow, by which a
program gets a token (RFC 8628), and \`POST /auth/revoke\`, by which it gives the token back. A program can also get its
token by [OAuth 2.1](/guide/authentication.md#oauth). Without a valid token the answer is 401; a token that lacks a scope
gets 403 \`insufficient_scope\`. What a token can do is also bounded by the role of its user: a \`viewer\` cannot write
(403 \`forbidden\`), and what belongs to a workspace the user is not a member of does not exist (404). The scopes:

${scopes.map((scope) => `- \`${scope}\``).join('\n')}`

const envelopes = `
A success is \`{"data": …, "request_id": "…"}\`; a list adds \`"page": {"cursor", "next_cursor", "has_more"}\`. An error is
\`{"error": {"type", "code", "message", "details"?, "documentation_url"}, "request_id": "…"}\`. Branch on \`code\`;
\`message\` is for people, and \`documentation_url\` leads to the chapter of the guide that explains the code, or to its row
in the table of errors below. Where a request is not valid, \`details.fields\` names at most 20 members with what is
allowed there; of a union it is about the alternative that \`format\` or \`op\` names.
\`X-Request-Id\` may be sent with 1 to 128 letters, digits, \`.\`, \`_\` or \`-\` and comes back, otherwise the service
makes one; it equals \`request_id\`.`

const rateLimits = `
Calls are counted in windows of 60 seconds, each in one bucket. Counted answers carry \`X-RateLimit-Limit\`,
\`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`, the seconds until the window ends. Over the limit the answer is 429
\`rate_limited\` with \`Retry-After\`.`

const pagination = `
Lists take \`limit\` (1 to 100) and \`cursor\`. Continue with \`page.next_cursor\` until \`page.has_more\` is false. A
cursor is opaque and belongs to the endpoint, its filters and its sort order: elsewhere it is 400 \`invalid_cursor\`,
under another order 400 \`cursor_sort_mismatch\`.`

const idempotency = (config: Config) => `
Every POST takes an \`Idempotency-Key\` of 1 to 128 visible ASCII characters. For ${config.IDEMPOTENCY_TTL_HOURS} hours a
repetition with the same token, path and body gets the first answer again, marked \`Idempotent-Replayed: true\`, instead
of a second effect. The same key with another body is 409 \`idempotency_key_reused\`; while the first call still runs it
is 409 \`idempotency_in_progress\`. An error releases the key.`

const concurrency = `
Bodies, summaries, concepts and candidates carry a strong \`ETag\`. Send it back as \`If-Match\`: when the resource has
changed since, the answer is 409 \`version_conflict\` with the current \`ETag\`, and nothing is written. Where a guard is
required and missing the answer is 428 \`precondition_required\`. \`*\` matches whatever is there; a weak tag never
matches. \`If-None-Match\` on reads that honour it answers 304.`

function rateTable(config: Config): string {
  const buckets = [
    ['read', 'per token', config.RATE_READ_PER_MIN],
    ['write', 'per token', config.RATE_WRITE_PER_MIN],
    ['search', 'per token', config.RATE_SEARCH_PER_MIN],
    ['job', 'per token', config.RATE_JOB_PER_MIN],
    ['ip', 'per address: device calls and failed authentications', config.RATE_IP_PER_MIN],
    ['share', 'per address: shared pages and their files', config.RATE_SHARE_PER_MIN],
  ] as const
  return table({
    head: ['Bucket', 'Counted', 'Calls a minute'],
    rows: buckets.map(([name, counted, limit]) => [`\`${name}\``, counted, limit > 0 ? String(limit) : 'unlimited']),
  })
}
