import type { Caller } from '../../auth/caller.ts'
import type { StoredBody } from '../../body/stored-body.ts'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { Refusal } from '../../errors/errors.ts'
import { type Actor, recordAudit } from '../audit-queries.ts'
import { findWritable, type SetMembers, sourceOf } from '../members.ts'
import { bodiesOf, holdPair, pairOf, translationNamed } from '../pair.ts'
import { placeUnits, presentUnits } from './present.ts'
import * as queries from './queries.ts'
import type { ReviewInput, TranslationUnit } from './schema.ts'
import { blank, textBlocks } from './texts.ts'

/** The precondition of a call on the body of a translation. `require` refuses with 428, `check` with 409. */
export type TargetGuard = {
  require: () => void
  check: (current: StoredBody, document: DocumentRow) => Promise<void>
}

/**
 * Records what a person says of a unit, and what it is mapped to (decisions 3). Both texts are held meanwhile, so what
 * is confirmed is what the person saw. 404, 403, 428, 409 `version_conflict`, `source_document_missing`, 422
 * `block_not_found`.
 */
export async function reviewUnit(
  tx: Transaction,
  input: {
    caller: Caller
    actor: Actor
    documentId: string
    unitId: string
    review: ReviewInput
    guard: TargetGuard
  },
): Promise<{ unit: TranslationUnit; target: DocumentRow }> {
  const { caller, unitId, review } = input
  const name = { targetId: review.target_document_id, unitId }
  const { found, named: target } = await findWritable(tx, input, (members) => targetOf(tx, members, name))
  const key = { workspaceId: target.workspace_id, targetId: target.id, unitId }
  input.guard.require()
  const pair = await holdPair(tx, { caller, pair: pairOf(found, target) })
  const bodies = await bodiesOf(tx, pair)
  await input.guard.check(bodies.target, pair.target)
  await queries.lockUnits(tx, { ...key, unitIds: [unitId] })
  const before = await requireUnit(tx, key)
  if (review.target_block_ids !== undefined) {
    await remap(tx, { ...key, blockIds: review.target_block_ids, body: bodies.target })
  }
  const { review_status: status } = review
  await queries.recordReview(tx, { ...key, status, userId: caller.userId })
  if (!(await queries.hasOpenUnits(tx, key))) {
    await queries.setTranslatedFrom(tx, { ...key, version: pair.source.version })
  }
  await recordAudit(tx, {
    workspaceId: key.workspaceId,
    actor: input.actor,
    entries: [
      {
        action: 'unit.reviewed',
        document_set_id: pair.set.id,
        source_document_id: pair.source.id,
        target_document_id: pair.target.id,
        locale: pair.target.locale,
        unit_id: unitId,
        details: { review_status: status, status_before: before.status },
      },
    ],
  })
  const [unit] = presentUnits(pair, placeUnits([await requireUnit(tx, key)], bodies))
  if (unit === undefined) throw notFound(unitId)
  return { unit, target: pair.target }
}

type UnitKey = queries.TargetKey & { unitId: string }

async function targetOf(tx: Transaction, found: SetMembers, name: Omit<UnitKey, 'workspaceId'>): Promise<DocumentRow> {
  const target = translationNamed(found, { documentId: name.targetId }) as DocumentRow
  // Units go with their source, so its absence says more than theirs.
  if (sourceOf(found) !== null) await requireUnit(tx, { ...name, workspaceId: target.workspace_id })
  return target
}

async function requireUnit(tx: Transaction, key: UnitKey): Promise<queries.UnitRow> {
  const unit = await queries.unitOfTarget(tx, key)
  if (unit === null) throw notFound(key.unitId)
  return unit
}

function notFound(unitId: string): Refusal {
  return new Refusal('unit_not_found', { details: { id: unitId } })
}

async function remap(
  tx: Transaction,
  input: UnitKey & { blockIds: readonly string[]; body: StoredBody },
): Promise<void> {
  const { unitId } = input
  const hashes = new Map(textBlocks(input.body.document.content).map(({ id, hash }) => [id, hash]))
  const mappings = [...new Set(input.blockIds)].map((block_id, ordinal) => {
    const hash = hashes.get(block_id)
    if (hash === undefined) throw noSuchBlock(block_id, input.blockIds.indexOf(block_id))
    return { unit_id: unitId, block_id, ordinal, hash: hash || blank }
  })
  await queries.replaceMappings(tx, { ...input, unitIds: [unitId], mappings })
  await queries.refreshTargetHashes(tx, { workspaceId: input.workspaceId, unitIds: [unitId], byHand: false })
}

function noSuchBlock(blockId: string, index: number): Refusal {
  const reason = 'the target has no paragraph or heading of this id'
  const details = { path: `/target_block_ids/${index}`, reason, block_id: blockId }
  return new Refusal('block_not_found', { status: 422, details })
}
