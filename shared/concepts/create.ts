import { type Caller, requireWriter } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import type { NamedId } from '../schema/identifiers.ts'
import { newId } from '../schema/ids.ts'
import {
  type NamedEvidence,
  namedEvidence,
  recordEvidence,
  requireCurrentEvidence,
  resolveEvidence,
} from './evidence.ts'
import { findKnowledgeBaseKey, lockKnowledgeBase } from './find.ts'
import { type ConceptCreateInput, readValidity } from './inputs.ts'
import { normaliseName, requireDistinctLocales, storedLabels } from './names.ts'
import { claimName, replaceManualAliases, replaceManualLabels } from './naming-queries.ts'
import { type ConceptRow, insertConcept } from './queries.ts'
import { requireDocumentOfWorkspace } from './sources.ts'

/**
 * Creates an active concept with its aliases, labels and evidence. Refuses with 404 for a missing knowledge base,
 * document or block, with 409 `evidence_changed` or `concept_name_conflict`, and with 422 `invalid_locale`.
 */
export async function createConcept(
  tx: Transaction,
  input: { caller: Caller; concept: ConceptCreateInput & { knowledge_base_id: NamedId } },
): Promise<ConceptRow> {
  const { caller, concept } = input
  const given = evidenceOf(concept)
  requireDistinctLocales(concept.labels ?? [])
  const knowledgeBase = await findKnowledgeBaseKey(tx, { caller, id: concept.knowledge_base_id })
  const { workspaceId } = knowledgeBase
  const found = await resolveEvidence(tx, { workspaceId, evidence: given.map(({ evidence }) => evidence) })
  const canonical = concept.canonical_document_id ?? null
  if (canonical !== null) {
    await requireDocumentOfWorkspace(tx, { workspaceId, documentId: canonical, field: 'canonical_document_id' })
  }
  requireWriter(caller, workspaceId)
  await lockKnowledgeBase(tx, knowledgeBase)
  requireCurrentEvidence(found)
  const normalizedName = normaliseName(concept.name)
  await claimName(tx, { workspaceId, knowledgeBaseId: knowledgeBase.id, normalizedName })
  const row = await insertConcept(tx, {
    workspace_id: workspaceId,
    id: newId('concept'),
    knowledge_base_id: knowledgeBase.id,
    name: concept.name.trim(),
    normalized_name: normalizedName,
    description: concept.description ?? null,
    canonical_document_id: canonical,
  })
  await replaceManualAliases(tx, row, concept.aliases ?? [])
  await replaceManualLabels(tx, row, { labels: storedLabels(concept.labels ?? []), createdBy: caller.userId })
  const evidence = found.map((resolved, index) => ({ ...resolved, ...(given[index]?.validity ?? unlimited) }))
  await recordEvidence(tx, row, { evidence, origin: 'manual' })
  return row
}

type GivenEvidence = { evidence: NamedEvidence; validity: ReturnType<typeof readValidity> }

const unlimited = { valid_from: null, valid_to: null }

// Lists the evidence that the request body names: `sources`, and one more piece of evidence in the `source_*` members.
function evidenceOf(concept: ConceptCreateInput): GivenEvidence[] {
  const listed = (concept.sources ?? []).map((source, index) => ({
    evidence: namedEvidence(source, `sources/${index}/`),
    validity: readValidity(source, `/sources/${index}`),
  }))
  const validity = readValidity(concept)
  const { source_document_id, source_block_id, source_version, source_excerpt } = concept
  if (source_document_id === undefined) {
    if (source_block_id == null) return listed
    const fields = [{ path: '/source_document_id', message: 'is required with source_block_id' }]
    throw new Refusal('invalid_request', { details: { fields } })
  }
  const evidence = namedEvidence(
    {
      document_id: source_document_id,
      block_id: source_block_id,
      source_version,
      excerpt: source_excerpt,
    },
    'source_',
  )
  return [...listed, { evidence, validity }]
}
