import { detailsNotation } from '../../api/docs/reference/errors.ts'
import { errorsOf } from '../../api/docs/route-errors.ts'
import { errorType, statusesOf } from '../../api/http/errors.ts'
import { routes } from '../../api/routes/routes.ts'
import { type CatalogueEntry, errorCatalogue } from '../../shared/errors/error-catalogue.ts'
import { type ErrorCode, Refusal } from '../../shared/errors/errors.ts'
import { checkErrorDetails } from '../support/error-details.ts'
import { t } from '../support/tap.ts'

// The registry of the contract. A code with two statuses has one line for each.
const registry = `
400 | invalid_request | {"fields":[{"path":"/name","message"}]}
400 | invalid_query | {"position"}
400 | invalid_json invalid_grant authorization_pending expired_token access_denied | –
400 | slow_down | {"interval"}
400 | invalid_scope | {"unknown":[…]}
400 | invalid_cursor invalid_idempotency_key invalid_last_event_id confirm_id_mismatch cross_workspace_move folder_knowledge_base_mismatch | –
400 | cursor_sort_mismatch | {"cursor_sort","requested_sort"}
400 | invalid_precondition precondition_mismatch | {"header"}
400/422 | invalid_locale | {"locale","field"}
401 | missing_token invalid_token token_expired token_revoked | –
403 | insufficient_scope | {"required_scopes":[…]}
403 | forbidden | {"required_role"}
403 | public_share_disabled | –
404 | route_not_found | –
404 | knowledge_base_not_found folder_not_found document_not_found block_not_found version_not_found relation_not_found concept_not_found candidate_not_found document_set_not_found translation_not_found unit_not_found job_not_found share_not_found attachment_not_found workspace_not_found not_localized trash_not_found tag_not_found | {"id","field"?}
404 | section_not_found | {"id","field"?,"index"}
405 | method_not_allowed | {"allow":[…]}
409 | version_conflict | {"provided","current_version","current_hash"?,"field"?,"changed_block_ids"?:[…],"operation_index"?,"block_id"?}
409 | text_not_found | {"index","nearest":[≤3]}
409 | text_ambiguous | {"index","block_ids":[…]}
409 | idempotency_key_reused idempotency_in_progress | –
409 | read_cursor_stale | {"cursor_version","current_version"}
409 | search_cursor_stale search_cursor_invalid | {"watermark"?}
409 | document_id_conflict relation_exists concept_relation_exists | {"id"}
409 | inline_relation | {"document_id","block_id"}
409 | folder_cycle concept_self_relation concept_relation_cycle concept_self_merge | –
409 | concept_name_conflict | {"concept_id"}
409 | concept_merged | {"merged_into_concept_id"}
409 | concept_not_active | {"concept_id","status"}
409 | evidence_changed candidate_source_changed source_version_changed translation_source_changed | {"provided","current_version"}
409 | candidate_already_reviewed | {"review_status","concept_id"}
409 | summary_pinned | {"summary_version"}
409 | localization_already_active localization_not_active cannot_delete_source source_document_missing | {"document_set_id"?}
409 | locale_exists | {"locale","document_id"}
409 | translations_exist | {"locales":[…]}
409 | job_not_succeeded | {"status"}
409 | attachment_referenced | {"document_ids":[≤20]}
409 | parent_missing | {"knowledge_base_id"}
409 | quota_exceeded | {"quota","limit","used"}
413 | payload_too_large attachment_too_large | {"max_bytes"}
415 | unsupported_media_type | {"accepted":[…]}
422 | heading_not_found | {"heading","operation_index"?}
422 | invalid_node invalid_block_id duplicate_block_id block_id_mismatch invalid_position block_not_found attachment_not_found | {"path":"/content/0","reason","block_id"?,"operation_index"?}
422 | duplicate_block_anchor invalid_markdown_anchor | {"block_id","lines":[…]}
422 | document_too_large | {"limit","actual","unit":"characters|nodes|bytes"}
404 | section_not_found | {"id","field"?,"index"}
409 | text_not_found | {"index","nearest":[≤3]}
409 | text_ambiguous | {"index","block_ids":[…]}
422 | documents_unavailable | {"ids":[≤100]}
422 | self_relation cross_knowledge_base not_a_heading_block nothing_to_translate | –
422 | invalid_translation | {"fields":[{"path":"/name","message"}]}
428 | precondition_required | {"missing":["If-Match"]}
429 | rate_limited | {"bucket","retry_after"}
429 | too_many_streams | {"limit"}
429 | translation_quota_exceeded | {"limit","used","resets_at"}
500 | internal_error | –
503 | model_unavailable service_unavailable | –
`

t.test('the catalogue holds every code of the contract, no other, each with its statuses and details', async (t) => {
  const expected = new Map<string, { statuses: Set<number>; details: Set<string> }>()
  for (const line of registry.trim().split('\n')) {
    const [statuses = '', codes = '', details = ''] = line.split(' | ')
    for (const code of codes.split(' ')) {
      const entry = expected.get(code) ?? { statuses: new Set(), details: new Set() }
      for (const status of statuses.split('/')) entry.statuses.add(Number(status))
      if (details !== '–') entry.details.add(details)
      expected.set(code, entry)
    }
  }
  t.same(Object.keys(errorCatalogue).sort(), [...expected.keys()].sort())
  for (const [code, { statuses, details }] of expected) {
    const entry: CatalogueEntry = errorCatalogue[code as ErrorCode]
    t.same(statusesOf(code as ErrorCode), [...statuses], code)
    t.equal(entry.details === undefined ? '' : detailsNotation(entry.details), [...details].join(' or '), code)
    t.match(entry.message, /^\w.*\.$/, `${code} has a sentence`)
  }
})

t.test('every status has the one type that clients may rely on', async (t) => {
  const types: Record<string, number[]> = {
    request_error: [400, 404, 405, 409, 413, 415, 422, 428],
    authentication_error: [401],
    permission_error: [403],
    rate_limit_error: [429],
    service_error: [500, 503],
  }
  for (const [type, statuses] of Object.entries(types)) for (const status of statuses) t.equal(errorType(status), type)
})

t.test('a route promises only codes at statuses that they have', async (t) => {
  for (const spec of routes) {
    const promised = [...errorsOf(spec)].flatMap(([status, codes]) => codes.map((code) => ({ status, code })))
    for (const { status, code } of promised)
      t.ok(statusesOf(code).includes(status), `${spec.operationId} ${status} ${code}`)
    for (const code of spec.errors)
      t.ok(
        promised.some((entry) => entry.code === code),
        `${spec.operationId} ${code}`,
      )
  }
})

t.test('a client that knows the catalogue can read the details of every error by their types', async (t) => {
  t.doesNotThrow(() => checkErrorDetails({ error: { code: 'slow_down', details: { interval: 5 } } }))
  t.doesNotThrow(() => checkErrorDetails({ error: { code: 'search_cursor_invalid' } }))
  t.doesNotThrow(() => checkErrorDetails({ error: { code: 'block_not_found', details: { id: 'block_x' } } }))
  t.doesNotThrow(() => checkErrorDetails({ error: { code: 'block_not_found', details: { path: '', reason: 'x' } } }))
  t.throws(() => checkErrorDetails({ error: { code: 'slow_down' } }))
  t.throws(() => checkErrorDetails({ error: { code: 'slow_down', details: { interval: '5' } } }))
  t.throws(() => checkErrorDetails({ error: { code: 'slow_down', details: { interval: 5, other: 1 } } }))
  t.throws(() => checkErrorDetails({ error: { code: 'invalid_json', details: {} } }))
  t.throws(() => checkErrorDetails({ error: { code: 'invalid_request', details: { fields: [{ path: '/x' }] } } }))
})

t.test('the compiler refuses details that the catalogue does not declare', async (t) => {
  t.ok(new Refusal('document_not_found', { details: { id: 'doc_x', field: 'document_id' } }))
  t.ok(new Refusal('search_cursor_invalid'))
  // @ts-expect-error a required member is missing
  t.ok(new Refusal('version_conflict', { details: { provided: 'x' } }))
  // @ts-expect-error the details are missing
  t.ok(new Refusal('quota_exceeded'))
  // @ts-expect-error a member is misspelt
  t.ok(new Refusal('document_not_found', { details: { id: 'doc_x', feld: 'document_id' } }))
  // @ts-expect-error the code carries no details
  t.ok(new Refusal('folder_cycle', { details: { id: 1 } }))
})
