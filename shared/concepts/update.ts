import { isDeepStrictEqual } from 'node:util'
import type { Caller } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import type { VersionGuard } from '../requests/version-guard.ts'
import { findConceptRow, lockConcept, requireConceptWriter, requireUnmerged } from './find.ts'
import type { ConceptUpdateInput } from './inputs.ts'
import { normaliseName, requireDistinctLocales, storedLabels } from './names.ts'
import { claimName, replaceManualAliases, replaceManualLabels } from './naming-queries.ts'
import { conceptVersion } from './present.ts'
import {
  type ConceptColumns,
  type ConceptRow,
  type NamedConcept,
  namedConcept,
  raiseVersion,
  updateColumns,
} from './queries.ts'
import { requireDocumentOfWorkspace } from './sources.ts'

/**
 * Changes, archives or reactivates a concept. A request that changes nothing leaves the version as it is. Refuses with
 * 409 `concept_merged`, `concept_name_conflict` or `version_conflict`, in this order, and with 422 `invalid_locale`.
 */
export async function updateConcept(
  tx: Transaction,
  input: { id: string; caller: Caller; update: ConceptUpdateInput; guard: VersionGuard },
): Promise<ConceptRow> {
  const { caller, update, guard } = input
  requireDistinctLocales(update.labels ?? [])
  const found = await findConceptRow(tx, { caller, id: input.id })
  const { workspace_id: workspaceId, knowledge_base_id: knowledgeBaseId } = found
  const documentId = update.canonical_document_id ?? null
  if (documentId !== null)
    await requireDocumentOfWorkspace(tx, { workspaceId, documentId, field: 'canonical_document_id' })
  requireConceptWriter(caller, found)
  guard.require()
  const concept = await lockConcept(tx, found)
  requireUnmerged(concept)
  const columns = merged(concept, update)
  if (columns.status === 'active') {
    const normalizedName = columns.normalized_name
    await claimName(tx, { workspaceId, knowledgeBaseId, normalizedName, exceptId: concept.id })
  }
  guard.check(conceptVersion(concept))
  const before = await namedConcept(tx, concept)
  await write(tx, before, { columns, update, userId: caller.userId })
  if (!isDeepStrictEqual(before, await namedConcept(tx, concept))) await raiseVersion(tx, concept)
  return concept
}

function merged(concept: ConceptRow, update: ConceptUpdateInput): ConceptColumns {
  const { name = concept.name, description, canonical_document_id, status = concept.status } = update
  return {
    name: name.trim(),
    normalized_name: normaliseName(name),
    description: description === undefined ? concept.description : description,
    canonical_document_id: canonical_document_id === undefined ? concept.canonical_document_id : canonical_document_id,
    status,
  }
}

async function write(
  tx: Transaction,
  concept: NamedConcept,
  to: { columns: ConceptColumns; update: ConceptUpdateInput; userId: string },
): Promise<void> {
  const { aliases, labels } = to.update
  await updateColumns(tx, concept, to.columns)
  if (aliases !== undefined) await replaceManualAliases(tx, concept, aliases)
  if (labels !== undefined) {
    await replaceManualLabels(tx, concept, { labels: storedLabels(labels), createdBy: to.userId })
  }
}
