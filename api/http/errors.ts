import { StatementTimeoutError } from 'slonik'
import { ComputationLimitError } from '../../shared/computations/computation.ts'
import { isOutage, isWriteRefusal } from '../../shared/database/outages.ts'
import { type CatalogueEntry, errorCatalogue } from '../../shared/errors/error-catalogue.ts'
import { type ErrorCode, Refusal } from '../../shared/errors/errors.ts'
import type { Logger } from '../../shared/process/log.ts'

// The sections of the guide that explain codes: `<chapter>#<anchor>`.
const guideSections: Record<string, readonly ErrorCode[]> = {
  'requests#paging': ['invalid_cursor', 'cursor_sort_mismatch'],
  'requests#media-types': ['payload_too_large', 'invalid_json', 'unsupported_media_type'],
  'authentication#tokens': ['missing_token', 'invalid_token', 'token_expired', 'token_revoked'],
  'authentication#scopes': ['insufficient_scope'],
  'authentication#roles': ['forbidden'],
  'authentication#workspaces': ['workspace_not_found', 'cross_workspace_move'],
  'authentication#device': ['authorization_pending', 'slow_down', 'expired_token', 'access_denied', 'invalid_grant'],
  'writes#preconditions': [
    'version_conflict',
    'precondition_required',
    'precondition_mismatch',
    'invalid_precondition',
  ],
  'idempotency#keys': ['invalid_idempotency_key'],
  'idempotency#replays': ['idempotency_key_reused', 'idempotency_in_progress'],
  'documents#folders': ['folder_cycle'],
  'documents#location': ['folder_knowledge_base_mismatch'],
  'documents#documents': ['document_id_conflict'],
  'documents#several-documents': ['documents_unavailable'],
  'documents#tags-of-a-knowledge-base': ['tag_not_found'],
  'documents#sharing': ['public_share_disabled', 'share_not_found'],
  'documents#deletion': ['confirm_id_mismatch'],
  'blocks#block-ids': ['invalid_block_id', 'duplicate_block_id', 'block_id_mismatch'],
  'blocks#nodes': ['invalid_node'],
  'blocks#limits': ['document_too_large'],
  'blocks#guards': ['heading_not_found', 'invalid_position'],
  'blocks#edits-by-text': ['text_not_found', 'text_ambiguous', 'section_not_found'],
  'blocks#partial-read': ['read_cursor_stale'],
  'blocks#history': ['version_not_found'],
  'markdown#annotations': ['duplicate_block_anchor', 'invalid_markdown_anchor'],
  'attachments#uploads': ['attachment_too_large'],
  'attachments#deletion': ['attachment_referenced'],
  'trash#restoring': ['trash_not_found', 'parent_missing'],
  'search#exhaustive': ['search_cursor_stale', 'search_cursor_invalid'],
  'events#delivery': ['invalid_last_event_id'],
  'events#streams': ['too_many_streams'],
  'relations#links': ['relation_exists', 'inline_relation', 'self_relation'],
  'concepts#names': ['concept_name_conflict'],
  'concepts#hierarchy': [
    'concept_relation_exists',
    'concept_self_relation',
    'concept_relation_cycle',
    'cross_knowledge_base',
  ],
  'concepts#merging': ['concept_merged', 'concept_not_active', 'concept_self_merge'],
  'concepts#evidence': ['evidence_changed'],
  'concepts#review': ['candidate_source_changed', 'candidate_already_reviewed'],
  'summaries#levels': ['not_a_heading_block'],
  'summaries#refresh': ['source_version_changed', 'summary_pinned'],
  'translation#sets': [
    'localization_already_active',
    'localization_not_active',
    'not_localized',
    'locale_exists',
    'source_document_missing',
    'translations_exist',
  ],
  'translation#locales': ['invalid_locale'],
  'translation#members': ['cannot_delete_source'],
  'translation#jobs': [
    'translation_quota_exceeded',
    'job_not_succeeded',
    'translation_source_changed',
    'nothing_to_translate',
  ],
  'jobs#handles': ['job_not_found'],
  'limits#rates': ['rate_limited'],
  'limits#quotas': ['quota_exceeded'],
}

/** The body of every error response (api/guide/errors.md#shape). */
export type ErrorBody = {
  error: {
    type: string
    code: ErrorCode
    message: string
    details?: Record<string, unknown>
    documentation_url: string
  }
  request_id: string
}

/**
 * Turns any thrown value into the refusal that answers the request. Only the error handler of the application calls
 * this function. A value other than a Refusal is a fault of the service, unless a computation has gone over its limit.
 * The refusal of a fault is 503 while the database is out of reach, refuses writes or is too slow, otherwise 500. The
 * `cause` of a refusal is for the log and never for the response.
 */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof ComputationLimitError) return tooCostly(error)
  if (!isOutage(error) && !(error instanceof StatementTimeoutError))
    return new Refusal('internal_error', { cause: error })
  // The seconds of Retry-After. A lost connection is replaced at once, but a full disk is not emptied within a second.
  const seconds = isWriteRefusal(error) ? '10' : '1'
  return new Refusal('service_unavailable', { headers: { 'Retry-After': seconds }, cause: error })
}

// A computation has gone over its limit. The same request would end in the same way, so the status is 4xx, and the
// client is not asked to repeat the request.
function tooCostly({ limit }: ComputationLimitError): Refusal {
  const reason = `this document takes too much ${limit} to be computed; read it as tiptap-json or make it smaller`
  return new Refusal('invalid_node', { details: { path: '', reason } })
}

/**
 * Logs the refusal of a request that says that the service has failed: an error for a fault, a warning while the
 * database is out of reach, and otherwise information, such as for a model that is not configured.
 */
export function logFailure(log: Logger, { refusal, ...facts }: { refusal: Refusal; [fact: string]: unknown }): void {
  const line = { ...facts, err: refusal.cause ?? refusal }
  if (refusal.code === 'internal_error') log.error(line, 'request failed')
  else if (refusal.cause instanceof Error) log.warn(line, 'request failed')
  else log.info({ ...facts, code: refusal.code, cause: refusal.cause }, 'request refused')
}

/**
 * The response body of a refusal. `origin` is the public origin of the service, where the guide and the reference
 * explain the code.
 */
export function errorBody(refusal: Refusal, { requestId, origin }: { requestId: string; origin: string }): ErrorBody {
  const { code, message, details, status } = refusal
  return {
    error: {
      type: errorType(status),
      code,
      message,
      ...(details !== undefined && { details }),
      documentation_url: origin + documentationPath(code),
    },
    request_id: requestId,
  }
}

// The path of the section of the guide that explains the code, otherwise of the row of the code in the reference.
function documentationPath(code: ErrorCode): string {
  const section = guideSectionOf(code)
  return section === undefined ? `/api-docs.md#${errorAnchor(code)}` : `/guide/${section}`
}

/** The anchor of a code in the reference. */
export function errorAnchor(code: ErrorCode): string {
  return `error-${code}`
}

/** The `error.type` that belongs to a status. */
export function errorType(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'service_error' : 'request_error'
}

/** The statuses that a code can answer with; most codes have only one status. */
export function statusesOf(code: ErrorCode): number[] {
  const entry: CatalogueEntry = errorCatalogue[code]
  return entry.otherStatus === undefined ? [entry.status] : [entry.status, entry.otherStatus]
}

/**
 * The section of the guide that explains a code, `<chapter>#<anchor>`; undefined when the message of the code suffices.
 */
export function guideSectionOf(code: ErrorCode): string | undefined {
  return Object.entries(guideSections).find(([, codes]) => codes.includes(code))?.[0]
}
