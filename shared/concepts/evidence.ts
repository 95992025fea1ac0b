import type { Caller } from '../auth/caller.ts'
import type { Transaction } from '../database/database.ts'
import type { VersionGuard } from '../requests/version-guard.ts'
import { findConceptRow, lockConcept, requireConceptWriter, requireUnmerged } from './find.ts'
import type { ConceptEvidenceInput } from './inputs.ts'
import { conceptVersion } from './present.ts'
import { type ConceptRow, raiseVersion } from './queries.ts'
import { recordEvidence } from './relation-queries.ts'
import { namedEvidence, requireCurrentEvidence, resolveEvidence } from './sources.ts'
import { readValidity } from './validity.ts'

/**
 * Adds evidence to a concept; for a document and block that back it already, the existing relation takes over version
 * and excerpt. 409 `concept_merged`, `evidence_changed` or `version_conflict`, in this order.
 */
export async function addEvidence(
  tx: Transaction,
  input: { id: string; caller: Caller; evidence: ConceptEvidenceInput; guard: VersionGuard },
): Promise<{ concept: ConceptRow; relationId: string }> {
  const { caller, guard } = input
  const validity = readValidity(input.evidence)
  const found = await findConceptRow(tx, { caller, id: input.id })
  const resolved = await resolveEvidence(tx, {
    workspaceId: found.workspace_id,
    evidence: [namedEvidence(input.evidence, '')],
  })
  requireConceptWriter(caller, found)
  guard.require()
  const concept = await lockConcept(tx, found)
  requireUnmerged(concept)
  requireCurrentEvidence(resolved)
  guard.check(conceptVersion(concept))
  const evidence = resolved.map((one) => ({ ...one, ...validity }))
  const [relationId = ''] = await recordEvidence(tx, concept, { evidence, origin: 'manual' })
  await raiseVersion(tx, concept)
  return { concept, relationId }
}
