/** The facts of a code: its status, its sentence and the shape of `error.details`, which is absent where there are none. */
export type CatalogueEntry = { status: number; otherStatus?: number; message: string; details?: string }

const named = '{"id","field"?}'
const place = '{"path":"/content/0","reason","block_id"?,"operation_index"?}'
const moved = '{"provided","current_version"}'
const documentSet = '{"document_set_id"?}'

/**
 * The catalogue of every error that the API can answer with. A code fixes status, message and the shape of the details, and
 * clients decide by it. The reference and the OpenAPI description publish the catalogue.
 */
export const errorCatalogue = {
  invalid_request: {
    status: 400,
    message: 'The request is not valid.',
    details: '{"fields":[{"path":"/name","message"}]} (query: ?limit)',
  },
  invalid_json: { status: 400, message: 'The body is not valid JSON.' },
  invalid_grant: { status: 400, message: 'The device code is unknown or was already exchanged.' },
  authorization_pending: { status: 400, message: 'The user has not confirmed yet.' },
  slow_down: { status: 400, message: 'Polling too fast.', details: '{"interval"}' },
  expired_token: { status: 400, message: 'The device code has expired.' },
  access_denied: { status: 400, message: 'The user refused the request.' },
  invalid_scope: { status: 400, message: 'A requested scope is unknown, or none is left.', details: '{"unknown":[…]}' },
  invalid_cursor: { status: 400, message: 'The cursor is malformed or belongs to another request.' },
  invalid_idempotency_key: { status: 400, message: 'Idempotency-Key takes 1 to 128 visible ASCII characters.' },
  invalid_last_event_id: { status: 400, message: 'Last-Event-ID takes an integer >= 0.' },
  confirm_id_mismatch: { status: 400, message: 'confirm_id is not the id of the knowledge base.' },
  cross_workspace_move: { status: 400, message: 'Nothing can be moved to another workspace.' },
  folder_knowledge_base_mismatch: { status: 400, message: 'The folder is not in that knowledge base.' },
  cursor_sort_mismatch: {
    status: 400,
    message: 'The cursor was made under another sort order.',
    details: '{"cursor_sort","requested_sort"}',
  },
  invalid_precondition: {
    status: 400,
    message: 'The precondition is not a valid list of entity tags.',
    details: '{"header"}',
  },
  precondition_mismatch: { status: 400, message: 'The guards in header and body differ.', details: '{"header"}' },
  invalid_locale: {
    status: 400,
    otherStatus: 422,
    message: 'The locale is not a valid BCP 47 tag.',
    details: '{"locale","field"}',
  },

  missing_token: { status: 401, message: 'A bearer token is required.' },
  invalid_token: { status: 401, message: 'The token is not valid.' },
  token_expired: { status: 401, message: 'The token has expired.' },
  token_revoked: { status: 401, message: 'The token was revoked.' },

  insufficient_scope: { status: 403, message: 'The token lacks a required scope.', details: '{"required_scopes":[…]}' },
  forbidden: { status: 403, message: 'Your role in the workspace does not allow this.', details: '{"required_role"}' },
  public_share_disabled: { status: 403, message: 'Public sharing is disabled on this service.' },

  route_not_found: { status: 404, message: 'There is no such path.' },
  knowledge_base_not_found: { status: 404, message: 'There is no such knowledge base.', details: named },
  folder_not_found: { status: 404, message: 'There is no such folder.', details: named },
  document_not_found: { status: 404, message: 'There is no such document.', details: named },
  block_not_found: {
    status: 404,
    otherStatus: 422,
    message: 'There is no such block.',
    details: `${named} or ${place}`,
  },
  version_not_found: { status: 404, message: 'There is no such version.', details: named },
  relation_not_found: { status: 404, message: 'There is no such relation.', details: named },
  concept_not_found: { status: 404, message: 'There is no such concept.', details: named },
  candidate_not_found: { status: 404, message: 'There is no such candidate.', details: named },
  document_set_not_found: { status: 404, message: 'There is no such document set.', details: named },
  translation_not_found: { status: 404, message: 'There is no such translation.', details: named },
  unit_not_found: { status: 404, message: 'There is no such translation unit.', details: named },
  job_not_found: { status: 404, message: 'There is no such job.', details: named },
  attachment_not_found: {
    status: 404,
    otherStatus: 422,
    message: 'There is no such attachment.',
    details: `${named} or ${place}`,
  },
  workspace_not_found: { status: 404, message: 'There is no workspace.', details: named },
  not_localized: { status: 404, message: 'The document is not in a document set.', details: named },

  method_not_allowed: { status: 405, message: 'The path does not serve this method.', details: '{"allow":[…]}' },

  version_conflict: {
    status: 409,
    message: 'The resource has changed since the version you named.',
    details:
      '{"provided","current_version","current_hash"?,"field"?,"changed_block_ids"?,"operation_index"?,"block_id"?}',
  },
  idempotency_key_reused: { status: 409, message: 'The Idempotency-Key was used with another body.' },
  idempotency_in_progress: { status: 409, message: 'A request with this Idempotency-Key is still running.' },
  read_cursor_stale: {
    status: 409,
    message: 'The document has changed since the cursor was made.',
    details: '{"cursor_version","current_version"}',
  },
  search_cursor_stale: {
    status: 409,
    message: 'The searched documents have changed since the cursor was made.',
    details: '{"watermark"?}',
  },
  search_cursor_invalid: {
    status: 409,
    message: 'The search cursor is malformed or belongs to another search.',
    details: '{"watermark"?}',
  },
  document_id_conflict: { status: 409, message: 'The document id was used before.', details: '{"id"}' },
  relation_exists: { status: 409, message: 'The relation exists already.', details: '{"id"}' },
  concept_relation_exists: {
    status: 409,
    message: 'The concept relation exists already for that time.',
    details: '{"id"}',
  },
  inline_relation: {
    status: 409,
    message: 'The relation comes from a link in the body; remove the link instead.',
    details: '{"document_id","block_id"}',
  },
  folder_cycle: { status: 409, message: 'A folder cannot be moved into itself or below itself.' },
  concept_self_relation: { status: 409, message: 'A concept cannot be related to itself.' },
  concept_relation_cycle: { status: 409, message: 'The relation would close a cycle.' },
  concept_self_merge: { status: 409, message: 'A concept cannot be merged into itself.' },
  concept_name_conflict: {
    status: 409,
    message: 'An active concept has this name already.',
    details: '{"concept_id"}',
  },
  concept_merged: {
    status: 409,
    message: 'The concept was merged into another.',
    details: '{"merged_into_concept_id"}',
  },
  concept_not_active: { status: 409, message: 'The concept is not active.', details: '{"concept_id","status"}' },
  evidence_changed: { status: 409, message: 'The evidence has changed since the version you named.', details: moved },
  candidate_source_changed: { status: 409, message: 'The source of the candidate has changed.', details: moved },
  source_version_changed: {
    status: 409,
    message: 'The source has changed since the version you named.',
    details: moved,
  },
  translation_source_changed: {
    status: 409,
    message: 'The source has changed since the job was made.',
    details: moved,
  },
  candidate_already_reviewed: {
    status: 409,
    message: 'The candidate was reviewed already.',
    details: '{"review_status","concept_id"}',
  },
  summary_pinned: { status: 409, message: 'The summary is pinned.', details: '{"summary_version"}' },
  localization_already_active: {
    status: 409,
    message: 'The document is in a document set already.',
    details: documentSet,
  },
  localization_not_active: { status: 409, message: 'The document is not in a document set.', details: documentSet },
  cannot_delete_source: {
    status: 409,
    message: 'The source of a document set is no translation.',
    details: documentSet,
  },
  source_document_missing: {
    status: 409,
    message: 'The source document of the set was deleted.',
    details: documentSet,
  },
  locale_exists: {
    status: 409,
    message: 'The document set has this locale already.',
    details: '{"locale","document_id"}',
  },
  translations_exist: { status: 409, message: 'The document still has translations.', details: '{"locales":[…]}' },
  job_not_succeeded: { status: 409, message: 'Only a succeeded job can be applied.', details: '{"status"}' },
  attachment_referenced: {
    status: 409,
    message: 'The attachment is used by a body.',
    details: '{"document_ids":[≤20]}',
  },
  quota_exceeded: {
    status: 409,
    message: 'The quota of the workspace is used up.',
    details: '{"quota","limit","used"}',
  },

  payload_too_large: { status: 413, message: 'The body is too large.', details: '{"max_bytes"}' },
  attachment_too_large: { status: 413, message: 'The attachment is too large.', details: '{"max_bytes"}' },
  unsupported_media_type: {
    status: 415,
    message: 'The media type is not supported here.',
    details: '{"accepted":[…]}',
  },

  heading_not_found: {
    status: 422,
    message: 'No top-level heading matches.',
    details: '{"heading","operation_index"?}',
  },
  invalid_node: { status: 422, message: 'A node is not valid.', details: place },
  invalid_block_id: { status: 422, message: 'A block id is not valid.', details: place },
  duplicate_block_id: { status: 422, message: 'A block id occurs twice.', details: place },
  block_id_mismatch: { status: 422, message: 'The id of a block cannot be changed.', details: place },
  invalid_position: { status: 422, message: 'The blocks cannot stand at that position.', details: place },
  duplicate_block_anchor: { status: 422, message: 'A block anchor occurs twice.', details: '{"block_id","lines":[…]}' },
  invalid_markdown_anchor: {
    status: 422,
    message: 'A block anchor carries an id that is not valid.',
    details: '{"block_id","lines":[…]}',
  },
  document_too_large: {
    status: 422,
    message: 'The document is too large.',
    details: '{"limit","actual","unit":"characters|nodes|bytes"}',
  },
  self_relation: { status: 422, message: 'A block cannot be related to itself.' },
  cross_knowledge_base: { status: 422, message: 'The objects are in different knowledge bases.' },
  not_a_heading_block: { status: 422, message: 'The block is not a top-level heading.' },
  nothing_to_translate: { status: 422, message: 'No unit is eligible for translation.' },
  invalid_translation: { status: 422, message: 'The translation request is not valid.', details: '{"fields":[…]}' },

  precondition_required: { status: 428, message: 'A precondition is required.', details: '{"missing":["If-Match"]}' },

  rate_limited: { status: 429, message: 'Too many requests.', details: '{"bucket","retry_after"}' },
  too_many_streams: { status: 429, message: 'Too many open event streams.', details: '{"limit"}' },
  translation_quota_exceeded: {
    status: 429,
    message: 'The daily translation quota is used up.',
    details: '{"limit","used","resets_at"}',
  },

  internal_error: { status: 500, message: 'Something went wrong on our side.' },
  model_unavailable: { status: 503, message: 'No model is available.' },
  service_unavailable: { status: 503, message: 'The service is not available at the moment.' },
} as const satisfies Record<string, CatalogueEntry>
