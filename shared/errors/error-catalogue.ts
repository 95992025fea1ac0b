import Type, { type TSchema } from 'typebox'

/** The fixed parts of a code: its HTTP status, its sentence, and the schema of `error.details` where it has details. */
export type CatalogueEntry = {
  status: number
  /** The status where a request body, and not the path, names what is missing or malformed. */
  otherStatus?: number
  message: string
  details?: TSchema
}

const InvalidFields = Type.Object(
  {
    fields: Type.Array(
      Type.Object({
        path: Type.String({
          description:
            'JSON pointer to a member of the body, `?limit` for a query parameter, `{id}` for a parameter of the path',
          examples: ['/name'],
        }),
        message: Type.String({ description: 'what is allowed there' }),
      }),
    ),
  },
  { $id: 'InvalidFields', description: 'The members of the request that are not valid' },
)

const MissingResource = Type.Object(
  {
    id: Type.Union([Type.String(), Type.Integer(), Type.Null()], { description: 'as the request names it' }),
    field: Type.Optional(Type.String({ description: 'the member or parameter that names it, if not the path' })),
  },
  { $id: 'MissingResource' },
)

const BodyProblem = Type.Object(
  {
    path: Type.String({ description: 'JSON pointer into the request', examples: ['/content/0'] }),
    reason: Type.String(),
    block_id: Type.Optional(Type.String({ description: 'the nearest block that the caller knows' })),
    operation_index: Type.Optional(Type.Integer({ description: 'the operation of a batch, from 0' })),
  },
  { $id: 'BodyProblem' },
)

const VersionConflict = Type.Object(
  {
    provided: Type.String({ description: 'the guard of the request' }),
    current_version: Type.String(),
    current_hash: Type.Optional(Type.String({ description: 'of the block, where the guard may be a hash' })),
    field: Type.Optional(Type.String({ description: 'the member of the body that carried the guard' })),
    changed_block_ids: Type.Optional(
      Type.Array(Type.String(), {
        description: 'the top-level blocks, at most 100, that changed since the provided version, if it is still known',
      }),
    ),
    operation_index: Type.Optional(Type.Integer({ description: 'the operation of a batch, from 0' })),
    block_id: Type.Optional(Type.String({ description: 'the block that the operation guards' })),
  },
  { $id: 'VersionConflict' },
)

const ChangedSource = Type.Object(
  { provided: Type.String(), current_version: Type.String() },
  { $id: 'ChangedSource', description: 'The version that the request relies on, and the version that the source has' },
)

const DocumentSetOf = Type.Object({ document_set_id: Type.Optional(Type.String()) }, { $id: 'DocumentSetOf' })

const BlockAnchor = Type.Object(
  { block_id: Type.String(), lines: Type.Array(Type.Integer({ description: 'line of the Markdown, from 1' })) },
  { $id: 'BlockAnchor' },
)

const watermark = Type.Object({
  watermark: Type.Optional(Type.String({ description: 'of the projection at present' })),
})
const guardHeader = Type.Object({ header: Type.String({ description: 'name of the request header' }) })
const existing = Type.Object({ id: Type.String({ description: 'of the record that exists' }) })
const byteLimit = Type.Object({ max_bytes: Type.Integer() })

/**
 * The catalogue of every error that the API can answer with. Clients branch on the code. The code fixes the status, the
 * message and the schema of the details; three codes have two statuses each. The reference and the OpenAPI description
 * publish the catalogue.
 */
export const errorCatalogue = {
  invalid_request: {
    status: 400,
    message: 'The request is invalid.',
    details: InvalidFields,
  },
  invalid_json: { status: 400, message: 'The body is not valid JSON.' },
  invalid_grant: { status: 400, message: 'The device code is unknown or was already exchanged.' },
  authorization_pending: { status: 400, message: 'The user has not approved the request yet.' },
  slow_down: {
    status: 400,
    message: 'You are polling too frequently. Increase the interval.',
    details: Type.Object({ interval: Type.Integer({ description: 'seconds between two polls from now on' }) }),
  },
  expired_token: { status: 400, message: 'The device code has expired.' },
  access_denied: { status: 400, message: 'The user denied the request.' },
  invalid_scope: {
    status: 400,
    message: 'A requested scope is unknown, or no scope remains.',
    details: Type.Object({ unknown: Type.Array(Type.String()) }),
  },
  invalid_cursor: { status: 400, message: 'The cursor is malformed or belongs to a different request.' },
  invalid_idempotency_key: { status: 400, message: 'Idempotency-Key must be 1 to 128 visible ASCII characters.' },
  invalid_last_event_id: { status: 400, message: 'Last-Event-ID must be an integer >= 0.' },
  confirm_id_mismatch: { status: 400, message: 'confirm_id does not match the id of the knowledge base.' },
  cross_workspace_move: { status: 400, message: 'Items cannot be moved to another workspace.' },
  folder_knowledge_base_mismatch: { status: 400, message: 'The folder belongs to a different knowledge base.' },
  cursor_sort_mismatch: {
    status: 400,
    message: 'The cursor was created with a different sort order.',
    details: Type.Object({ cursor_sort: Type.String(), requested_sort: Type.String() }),
  },
  invalid_precondition: {
    status: 400,
    message: 'The precondition is not a valid list of entity tags.',
    details: guardHeader,
  },
  precondition_mismatch: {
    status: 400,
    message: 'The preconditions in the header and the body differ.',
    details: guardHeader,
  },
  invalid_query: {
    status: 400,
    message: 'The query contains only exclusions. Add a word to search for.',
    details: Type.Object({
      position: Type.Integer({
        description: 'of the first exclusion in the query after NFKC and trimming, in characters from 0',
      }),
    }),
  },
  invalid_locale: {
    status: 400,
    otherStatus: 422,
    message: 'The locale is not a valid BCP 47 tag.',
    details: Type.Object({ locale: Type.String(), field: Type.String() }),
  },

  missing_token: { status: 401, message: 'A bearer token is required.' },
  invalid_token: { status: 401, message: 'The token is invalid.' },
  token_expired: { status: 401, message: 'The token has expired.' },
  token_revoked: { status: 401, message: 'The token has been revoked.' },

  insufficient_scope: {
    status: 403,
    message: 'The token is missing a required scope.',
    details: Type.Object({ required_scopes: Type.Array(Type.String()) }),
  },
  forbidden: {
    status: 403,
    message: 'Your role in the workspace does not allow this.',
    details: Type.Object({ required_role: Type.String() }),
  },
  public_share_disabled: { status: 403, message: 'Public sharing is disabled on this service.' },

  route_not_found: { status: 404, message: 'Path not found.' },
  knowledge_base_not_found: { status: 404, message: 'Knowledge base not found.', details: MissingResource },
  folder_not_found: { status: 404, message: 'Folder not found.', details: MissingResource },
  document_not_found: { status: 404, message: 'Document not found.', details: MissingResource },
  block_not_found: {
    status: 404,
    otherStatus: 422,
    message: 'Block not found.',
    details: Type.Union([MissingResource, BodyProblem]),
  },
  section_not_found: {
    status: 404,
    message: 'Section not found.',
    details: Type.Object({
      ...MissingResource.properties,
      index: Type.Integer({ description: 'of the edit, from 0' }),
    }),
  },
  version_not_found: { status: 404, message: 'Version not found.', details: MissingResource },
  relation_not_found: { status: 404, message: 'Relation not found.', details: MissingResource },
  concept_not_found: { status: 404, message: 'Concept not found.', details: MissingResource },
  candidate_not_found: { status: 404, message: 'Candidate not found.', details: MissingResource },
  document_set_not_found: { status: 404, message: 'Document set not found.', details: MissingResource },
  translation_not_found: { status: 404, message: 'Translation not found.', details: MissingResource },
  unit_not_found: { status: 404, message: 'Translation unit not found.', details: MissingResource },
  job_not_found: { status: 404, message: 'Job not found.', details: MissingResource },
  share_not_found: { status: 404, message: 'Public link not found.', details: MissingResource },
  attachment_not_found: {
    status: 404,
    otherStatus: 422,
    message: 'Attachment not found.',
    details: Type.Union([MissingResource, BodyProblem]),
  },
  workspace_not_found: { status: 404, message: 'Workspace not found.', details: MissingResource },
  tag_not_found: { status: 404, message: 'Tag not found in this knowledge base.', details: MissingResource },
  trash_not_found: { status: 404, message: 'Trash entry not found.', details: MissingResource },
  not_localized: { status: 404, message: 'The document does not belong to a document set.', details: MissingResource },

  method_not_allowed: {
    status: 405,
    message: 'This path does not support the method.',
    details: Type.Object({ allow: Type.Array(Type.String({ description: 'method' })) }),
  },

  version_conflict: {
    status: 409,
    message: 'The resource has changed since the version you specified.',
    details: VersionConflict,
  },
  text_not_found: {
    status: 409,
    message: 'The text was not found in the current document.',
    details: Type.Object({
      index: Type.Integer({ description: 'of the edit, from 0' }),
      nearest: Type.Array(Type.Object({ block_id: Type.String(), text: Type.String() }), {
        maxItems: 3,
        description: 'texts of the document that resemble it the most, without regard to case',
      }),
    }),
  },
  text_ambiguous: {
    status: 409,
    message: 'The text occurs more than once in the document.',
    details: Type.Object({
      index: Type.Integer({ description: 'of the edit, from 0' }),
      block_ids: Type.Array(Type.String(), { description: 'the textblocks in which it occurs, at most 100' }),
    }),
  },
  idempotency_key_reused: { status: 409, message: 'The Idempotency-Key was already used for a different request.' },
  idempotency_in_progress: { status: 409, message: 'A request with this Idempotency-Key is still running.' },
  read_cursor_stale: {
    status: 409,
    message: 'The document has changed since the cursor was created.',
    details: Type.Object({ cursor_version: Type.String(), current_version: Type.String() }),
  },
  search_cursor_stale: {
    status: 409,
    message: 'The searched documents have changed since the cursor was created.',
    details: watermark,
  },
  search_cursor_invalid: {
    status: 409,
    message: 'The search cursor is malformed or belongs to a different search.',
    details: watermark,
  },
  parent_missing: {
    status: 409,
    message: 'The knowledge base no longer exists. Choose another location.',
    details: Type.Object({ knowledge_base_id: Type.Integer({ description: 'of the place before the deletion' }) }),
  },
  document_id_conflict: { status: 409, message: 'The document id has already been used.', details: existing },
  relation_exists: { status: 409, message: 'The relation already exists.', details: existing },
  concept_relation_exists: {
    status: 409,
    message: 'The concept relation already exists for that period.',
    details: existing,
  },
  inline_relation: {
    status: 409,
    message: 'The relation comes from a link in the body. Remove the link instead.',
    details: Type.Object({ document_id: Type.String(), block_id: Type.String() }),
  },
  folder_cycle: { status: 409, message: 'A folder cannot be moved into itself or one of its subfolders.' },
  concept_self_relation: { status: 409, message: 'A concept cannot be related to itself.' },
  concept_relation_cycle: { status: 409, message: 'The relation would create a cycle.' },
  concept_self_merge: { status: 409, message: 'A concept cannot be merged into itself.' },
  concept_name_conflict: {
    status: 409,
    message: 'An active concept already has this name.',
    details: Type.Object({ concept_id: Type.String() }),
  },
  concept_merged: {
    status: 409,
    message: 'The concept has been merged into another concept.',
    details: Type.Object({ merged_into_concept_id: Type.String() }),
  },
  concept_not_active: {
    status: 409,
    message: 'The concept is not active.',
    details: Type.Object({ concept_id: Type.String(), status: Type.String() }),
  },
  evidence_changed: {
    status: 409,
    message: 'The evidence has changed since the version you specified.',
    details: ChangedSource,
  },
  candidate_source_changed: {
    status: 409,
    message: 'The source of the candidate has changed.',
    details: ChangedSource,
  },
  source_version_changed: {
    status: 409,
    message: 'The source has changed since the version you specified.',
    details: ChangedSource,
  },
  translation_source_changed: {
    status: 409,
    message: 'The source has changed since the job was created.',
    details: Type.Object({
      provided: Type.String(),
      current_version: Type.Union([Type.String(), Type.Null()], { description: 'null when the source is gone' }),
    }),
  },
  candidate_already_reviewed: {
    status: 409,
    message: 'The candidate has already been reviewed.',
    details: Type.Object({ review_status: Type.String(), concept_id: Type.Union([Type.String(), Type.Null()]) }),
  },
  summary_pinned: {
    status: 409,
    message: 'The summary is pinned.',
    details: Type.Object({ summary_version: Type.Integer() }),
  },
  localization_already_active: {
    status: 409,
    message: 'The document already belongs to a document set.',
    details: DocumentSetOf,
  },
  localization_not_active: {
    status: 409,
    message: 'The document does not belong to a document set.',
    details: DocumentSetOf,
  },
  cannot_delete_source: {
    status: 409,
    message: 'The source document of a set cannot be a translation.',
    details: DocumentSetOf,
  },
  source_document_missing: {
    status: 409,
    message: 'The source document of the set has been deleted.',
    details: DocumentSetOf,
  },
  locale_exists: {
    status: 409,
    message: 'The document set already has this locale.',
    details: Type.Object({ locale: Type.String(), document_id: Type.String() }),
  },
  translations_exist: {
    status: 409,
    message: 'The document still has translations.',
    details: Type.Object({ locales: Type.Array(Type.String()) }),
  },
  job_not_succeeded: {
    status: 409,
    message: 'Only jobs that succeeded can be applied.',
    details: Type.Object({ status: Type.String() }),
  },
  attachment_referenced: {
    status: 409,
    message: 'The attachment is still used in a document.',
    details: Type.Object({ document_ids: Type.Array(Type.String(), { maxItems: 20 }) }),
  },
  quota_exceeded: {
    status: 409,
    message: 'The workspace has reached its quota.',
    details: Type.Object({ quota: Type.String(), limit: Type.Integer(), used: Type.Integer() }),
  },

  payload_too_large: { status: 413, message: 'The body is too large.', details: byteLimit },
  attachment_too_large: { status: 413, message: 'The attachment is too large.', details: byteLimit },
  unsupported_media_type: {
    status: 415,
    message: 'The media type is not supported.',
    details: Type.Object({ accepted: Type.Array(Type.String({ description: 'media type' })) }),
  },

  heading_not_found: {
    status: 422,
    message: 'No top-level heading matches.',
    details: Type.Object({ heading: Type.String(), operation_index: Type.Optional(Type.Integer()) }),
  },
  invalid_node: { status: 422, message: 'A node is invalid.', details: BodyProblem },
  invalid_block_id: { status: 422, message: 'A block id is invalid.', details: BodyProblem },
  duplicate_block_id: { status: 422, message: 'A block id occurs more than once.', details: BodyProblem },
  block_id_mismatch: { status: 422, message: 'The id of a block cannot be changed.', details: BodyProblem },
  invalid_position: { status: 422, message: 'The position is invalid.', details: BodyProblem },
  duplicate_block_anchor: { status: 422, message: 'A block anchor occurs more than once.', details: BlockAnchor },
  invalid_markdown_anchor: {
    status: 422,
    message: 'A block anchor contains an invalid id.',
    details: BlockAnchor,
  },
  document_too_large: {
    status: 422,
    message: 'The document is too large.',
    details: Type.Object({
      limit: Type.Integer(),
      actual: Type.Integer(),
      unit: Type.Enum(['characters', 'nodes', 'bytes']),
    }),
  },
  documents_unavailable: {
    status: 422,
    message: 'Some documents were not found. Nothing was changed.',
    details: Type.Object({ ids: Type.Array(Type.String(), { maxItems: 100 }) }),
  },
  self_relation: { status: 422, message: 'A block cannot be related to itself.' },
  cross_knowledge_base: { status: 422, message: 'The items belong to different knowledge bases.' },
  not_a_heading_block: { status: 422, message: 'The block is not a top-level heading.' },
  nothing_to_translate: { status: 422, message: 'No unit is eligible for translation.' },
  invalid_translation: { status: 422, message: 'The translation request is invalid.', details: InvalidFields },

  precondition_required: {
    status: 428,
    message: 'A precondition is required.',
    details: Type.Object({
      missing: Type.Array(Type.String({ description: 'header, or member of the body', examples: ['If-Match'] })),
    }),
  },

  rate_limited: {
    status: 429,
    message: 'Too many requests.',
    details: Type.Object({ bucket: Type.String(), retry_after: Type.Integer({ description: 'seconds' }) }),
  },
  too_many_streams: {
    status: 429,
    message: 'Too many open event streams.',
    details: Type.Object({ limit: Type.Integer() }),
  },
  translation_quota_exceeded: {
    status: 429,
    message: 'The workspace has reached its daily translation quota.',
    details: Type.Object({
      limit: Type.Integer(),
      used: Type.Integer(),
      resets_at: Type.Integer({ description: 'Unix milliseconds' }),
    }),
  },

  internal_error: { status: 500, message: 'Something went wrong on our side.' },
  model_unavailable: { status: 503, message: 'No model is available.' },
  service_unavailable: { status: 503, message: 'The service is temporarily unavailable.' },
} as const satisfies Record<string, CatalogueEntry>
