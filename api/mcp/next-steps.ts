import type { ErrorCode, ErrorDetails } from '../../shared/errors/errors.ts'

/** What the caller of a tool should do after a refusal: a sentence and, where it is a call, the tool and arguments. */
export type NextStep = { next: string; next_call?: { tool: string; arguments: object } }

/** A refused call of a tool, with the details of the refusal. */
type Refused<Details = Record<string, unknown>> = { name: string; args: Record<string, unknown>; details: Details }

/** Says what to do after a refusal with this code. */
export function nextStep(code: ErrorCode, refused: Refused): NextStep {
  const step = steps[code] as string | ((refused: Refused) => NextStep)
  return typeof step === 'string' ? { next: step } : step(refused)
}

const unknownId = 'Find the id with search or browse; an id of another workspace counts as unknown.'
const reread = (what: string) => `Read ${what} again and repeat the call with what you then see.`
const faultyMarkdown = 'Correct the part that details.path points to, then repeat the call.'
const otherProgram = 'This cannot be done with these tools; tell the user.'

type Steps = { [Code in ErrorCode]: string | ((refused: Refused<DetailsOf<Code>>) => NextStep) }
type DetailsOf<Code extends ErrorCode> = ErrorDetails<Code> extends undefined ? object : ErrorDetails<Code>

// Every code of the catalogue, so that a new code needs its sentence here before it compiles.
const steps: Steps = {
  invalid_request: 'Correct the arguments that details.fields names, then repeat the call.',
  invalid_json: 'Send the arguments as a JSON object.',
  invalid_grant: otherProgram,
  authorization_pending: otherProgram,
  slow_down: otherProgram,
  expired_token: otherProgram,
  access_denied: otherProgram,
  invalid_scope: otherProgram,
  invalid_cursor: 'Repeat the call without cursor, to begin at the first page.',
  invalid_idempotency_key: 'Send a key of 1 to 128 visible ASCII characters, or none.',
  invalid_last_event_id: otherProgram,
  confirm_id_mismatch: 'Repeat the call with the id of the knowledge base as the confirmation, if the user wants it.',
  cross_workspace_move: 'Choose a place in the same workspace.',
  folder_knowledge_base_mismatch: 'Name only the folder, or a folder of that knowledge base; browse shows the folders.',
  cursor_sort_mismatch: 'Repeat the call without cursor, or with the order that the cursor was made for.',
  invalid_precondition: 'Take the version from the last answer about the document, as it is.',
  precondition_mismatch: 'Name one version only.',
  invalid_query: 'Add a word that has to match.',
  invalid_locale: 'Use a BCP 47 tag, such as de or pt-BR.',

  missing_token: 'Ask the user to connect the account again.',
  invalid_token: 'Ask the user to connect the account again.',
  token_expired: 'Ask the user to connect the account again.',
  token_revoked: 'Ask the user to connect the account again.',
  insufficient_scope: ({ details }) => ({
    next: `Ask the user to connect the account with the scopes ${details.required_scopes.join(', ')}.`,
  }),
  forbidden: ({ details }) => ({
    next: `Ask an owner of the workspace for the role ${details.required_role}; nothing was changed.`,
  }),
  public_share_disabled: otherProgram,

  route_not_found: unknownId,
  knowledge_base_not_found: () => ({
    next: 'Take the id from the list of knowledge bases.',
    next_call: { tool: 'browse', arguments: {} },
  }),
  folder_not_found: () => ({
    next: 'Take the id of the folder from a knowledge base.',
    next_call: { tool: 'browse', arguments: {} },
  }),
  document_not_found: unknownId,
  block_not_found: ({ args }) => readAgain(args, { next: 'Read the document again and take a block id from there.' }),
  section_not_found: ({ args }) =>
    readAgain(args, { next: 'Take the block id of a heading from the outline.', view: 'outline' }),
  version_not_found: ({ args }) => {
    const [next, document_id] = ['Choose a version that is still kept.', documentOf(args)]
    return document_id === undefined ? { next } : { next, next_call: { tool: 'history', arguments: { document_id } } }
  },
  relation_not_found: 'List the relations again and take an id from there.',
  concept_not_found: 'Find the concept by its name and take its id from there.',
  candidate_not_found: 'List the candidates again and take an id from there.',
  document_set_not_found: unknownId,
  translation_not_found: 'Ask for the status of the translations of the document first.',
  unit_not_found: 'Ask for the status of the translation first.',
  job_not_found: 'Take the job id from the answer that started the job; finished jobs are kept for a while only.',
  share_not_found: otherProgram,
  attachment_not_found: 'Leave the attachment out, or name one that exists.',
  workspace_not_found: 'Ask the user to connect an account that is a member of the workspace.',
  tag_not_found: 'Use a tag that exists in the knowledge base.',
  trash_not_found: 'List the trash again and take an id from there.',
  not_localized: 'The document has no translations yet; request one first.',
  method_not_allowed: otherProgram,

  version_conflict: afterConflict,
  text_not_found: afterMissingText,
  text_ambiguous: ({ details }) => ({
    next: `Repeat the edit and name in edits[${details.index}] the block_id you mean, one of details.block_ids, or occurrence "all". No edit was stored.`,
  }),
  idempotency_key_reused: 'Repeat the call with a new key, since the arguments differ from those of the first call.',
  idempotency_in_progress: 'Repeat the same call with the same key after a second.',
  read_cursor_stale: ({ args }) =>
    readAgain(args, { next: 'The document has changed; read it again from its beginning, without cursor.' }),
  search_cursor_stale: 'Repeat the search without cursor.',
  search_cursor_invalid: 'Repeat the search without cursor.',
  parent_missing: 'Name the knowledge base or folder to restore into.',
  document_id_conflict: 'Repeat the call without an id, and the service makes one.',
  relation_exists: 'Nothing to do: the relation is there already.',
  concept_relation_exists: 'Nothing to do: the relation is there already.',
  inline_relation: 'Remove the link from the text of the document with edit.',
  folder_cycle: 'Choose a folder that is not inside the folder you move.',
  concept_self_relation: 'Name two different concepts.',
  concept_relation_cycle: 'Turn the relation around, or leave it out.',
  concept_self_merge: 'Name two different concepts.',
  concept_name_conflict: ({ details }) => ({ next: `Use the concept that has the name, ${details.concept_id}.` }),
  concept_merged: ({ details }) => ({ next: `Use the concept it was merged into, ${details.merged_into_concept_id}.` }),
  concept_not_active: 'Use another concept, or activate this one first.',
  evidence_changed: reread('the evidence'),
  candidate_source_changed: reread('the candidate and its source'),
  source_version_changed: reread('the source'),
  translation_source_changed: 'Request the translation again, and apply the new job.',
  candidate_already_reviewed: 'Nothing to do: the candidate was reviewed already.',
  summary_pinned: 'Leave the summary as it is: a person has pinned it. Ask the user before you replace it.',
  localization_already_active: 'Nothing to do: the document can be translated already.',
  localization_not_active: 'Request a translation of the document first.',
  cannot_delete_source: 'Name a translation, not the source document.',
  source_document_missing: 'Restore the source document first.',
  locale_exists: ({ details }) => ({ next: `Work with the translation that exists, ${details.document_id}.` }),
  translations_exist: 'Delete the translations first, if the user wants it.',
  job_not_succeeded: 'Wait for the job with the tool job; a failed or obsolete job has to be requested again.',
  attachment_referenced: 'Remove the attachment from the documents in details.document_ids first.',
  quota_exceeded: ({ details }) => ({
    next: `Tell the user that the limit ${details.quota} of the workspace is reached; delete something or ask the operator.`,
  }),
  payload_too_large: 'Send less in one call: several smaller edits.',
  attachment_too_large: otherProgram,
  unsupported_media_type: otherProgram,

  heading_not_found: ({ args }) =>
    readAgain(args, { next: 'Take the heading from the outline of the document.', view: 'outline' }),
  invalid_node: faultyMarkdown,
  invalid_block_id: faultyMarkdown,
  duplicate_block_id: 'Use each block id once; leave the anchor of a copied block out.',
  block_id_mismatch: faultyMarkdown,
  invalid_position:
    'Choose another place: a list takes Markdown of a list, a table takes rows, other blocks stand beside them.',
  duplicate_block_anchor: 'Use each block anchor once; leave the anchor of a copied block out.',
  invalid_markdown_anchor: 'Leave anchors as read shows them, and write new blocks without an anchor.',
  document_too_large: 'Split the text into several documents.',
  documents_unavailable: 'Leave out the ids in details.ids and repeat the call; nothing was done.',
  self_relation: 'Name two different blocks.',
  cross_knowledge_base: 'Name objects of one knowledge base.',
  not_a_heading_block: 'Name the block id of a top-level heading; the outline of read has them.',
  nothing_to_translate: 'Nothing to do: everything is translated or was reviewed by a person.',
  invalid_translation: 'Correct the arguments that details.fields names, then repeat the call.',
  precondition_required: 'Repeat the call with the version or hash that the last answer about the object showed.',
  rate_limited: ({ details }) => ({ next: `Wait ${details.retry_after} seconds, then repeat the call.` }),
  too_many_streams: otherProgram,
  translation_quota_exceeded: 'Tell the user that translations can be requested again at details.resets_at.',
  internal_error: 'Repeat the call once; if it fails again, tell the user and name the request_id.',
  model_unavailable: 'This service has no model for it; do it without this tool.',
  service_unavailable: 'Wait a few seconds, then repeat the same call.',
}

function afterConflict({ name, args, details }: Refused<DetailsOf<'version_conflict'>>): NextStep {
  const { current_hash, block_id, current_version, operation_index = 0 } = details
  if (current_hash !== undefined && block_id !== undefined) {
    const next = `Somebody changed the block. Read it, adapt your edit to its present text, and repeat the call with if_match "${current_hash}" in edits[${operation_index}]. Nothing was stored.`
    return readAgain(args, { next, around: block_id, annotate: 'hashes' })
  }
  const again = `repeat the call with ${guardOf(name, current_version)}. Nothing was stored.`
  if (name === 'summarise') {
    const next = `The summary or its source has changed. Read the summary again, adapt your text, and ${again}`
    return { next, next_call: { tool: name, arguments: named(args, summarised) } }
  }
  if (name === 'concepts') {
    const next = `Somebody changed the concept or proposal. Look at it again, and ${again}`
    if (args['action'] !== 'relate') return { next }
    return { next, next_call: { tool: name, arguments: { action: 'find', ...named(args, ['concept_id']) } } }
  }
  const [around] = details.changed_block_ids ?? []
  const next = `Somebody changed the document. Read what changed, adapt your call, and ${again}`
  return readAgain(args, { next, ...(around !== undefined && { around }) })
}

const summarised = ['document_id', 'section', 'folder_id', 'knowledge_base_id']

// The argument with which a tool guards what it writes, with the present version.
function guardOf(tool: string, version: string): string {
  if (tool === 'summarise') return `summary_version ${version.replace(/^summary:/, '')}, and source_version as read`
  return ['edit', 'write', 'history'].includes(tool) ? `base_version "${version}"` : `version "${version}"`
}

function named(args: Record<string, unknown>, names: readonly string[]): object {
  return Object.fromEntries(names.filter((name) => args[name] !== undefined).map((name) => [name, args[name]]))
}

function afterMissingText({ args, details }: Refused<DetailsOf<'text_not_found'>>): NextStep {
  const [nearest] = details.nearest
  const place = nearest === undefined ? {} : { around: nearest.block_id }
  const hint = nearest === undefined ? '' : ' details.nearest has the texts that resemble it most.'
  const next = `Repeat the edit with edits[${details.index}].find copied exactly from the document as plain text, without Markdown.${hint} No edit was stored.`
  return readAgain(args, { next, view: 'plain-text', ...place })
}

type Reading = { next: string; view?: 'outline' | 'plain-text'; around?: string; annotate?: 'hashes' }

// A call without a document, such as the acceptance of a proposal, has no call that reads it.
function readAgain(args: Record<string, unknown>, { next, ...more }: Reading): NextStep {
  const document_id = documentOf(args)
  return document_id === undefined
    ? { next }
    : { next, next_call: { tool: 'read', arguments: { document_id, ...more } } }
}

// The document that a call names; of several documents, none.
function documentOf({ document_id, document_ids }: Record<string, unknown>): string | undefined {
  const [only, ...others] = Array.isArray(document_ids) ? document_ids : [document_id]
  return typeof only === 'string' && others.length === 0 ? only : undefined
}
