import type { Caller } from '../../auth/caller.ts'
import { StoredBody, textComputation } from '../../body/stored-body.ts'
import type { Ahead } from '../../computations/ahead.ts'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { Refusal } from '../../errors/errors.ts'
import { type Actor, recordAudit } from '../audit.ts'
import { findWritable, type SetMembers, sourceOf } from '../members.ts'
import { bodiesOf, lockPair, pairOf, translationNamed } from '../pair.ts'
import { type PairTexts, pairComputation, unitsIn } from './pair-texts.ts'
import { presentUnit, textsOf, type UnitTexts } from './present.ts'
import * as queries from './queries.ts'
import type { ReviewInput, TranslationUnit } from './schema.ts'
import { textBlocks } from './texts.ts'

/**
 * A precondition of a call on the body of a translation. `require` refuses a missing precondition with 428. `check`
 * refuses with 409 `version_conflict` when the current body does not meet the precondition.
 */
export type TargetGuard = {
  require: () => void
  check: (current: StoredBody, document: DocumentRow) => Promise<void>
}

/**
 * Records a person's review of a unit and, if the review names blocks, maps the unit to these blocks. Source document
 * and translation are locked meanwhile, so the review confirms exactly the texts that the person saw. Refuses with 404
 * `document_not_found`, `translation_not_found` or `unit_not_found`, with 403 for a viewer, and with 428 without a
 * precondition. Refuses with 409 `localization_not_active`, `source_document_missing` or `version_conflict`, and with
 * 422 `block_not_found`.
 */
export async function reviewUnit(
  { tx, ahead }: { tx: Transaction; ahead: Ahead },
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
  const pair = await lockPair(tx, { caller, pair: pairOf(found, target) })
  const bodies = await bodiesOf(tx, pair)
  await input.guard.check(bodies.target, pair.target)
  await queries.lockUnits(tx, { ...key, unitIds: [unitId] })
  const before = await requireUnit(tx, key)
  if (review.target_block_ids !== undefined) {
    const named = { text: bodies.target.text, unitId, blockIds: review.target_block_ids }
    await queries.mapUnits(tx, { ...key, unitIds: [unitId], mappings: await ahead.result(mapping, named) })
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
  const unit = await requireUnit(tx, key)
  const { id, source_block_id, block_ids } = unit
  const place: queries.UnitPlace = { id, source_block_id, block_ids }
  const units = JSON.stringify([place])
  const texts = await ahead.result(showing, { source: bodies.source.text, target: bodies.target.text, units })
  if (texts === null) throw notFound(unitId)
  return { unit: presentUnit(pair, { unit, texts }), target: pair.target }
}

/**
 * Returns the texts of the only unit in the input; null when its source text is gone. A thread calls this function by
 * its name.
 *
 * @public
 */
export function textsOfUnit(only: PairTexts): UnitTexts | null {
  return textsOf(unitsIn<queries.UnitPlace>(only))[0] ?? null
}

/**
 * A request to map a unit to blocks. `text` is the stored body of a translation, and `blockIds` are blocks of this
 * body.
 */
type NamedBlocks = { text: string; unitId: string; blockIds: readonly string[] }

/** Returns the mappings of a unit to named blocks as JSON text. A thread calls this function by its name. @public */
export function mappingsTo({ text, unitId, blockIds }: NamedBlocks): string {
  const { document } = new StoredBody({ version: '', text })
  const hashes = new Map(textBlocks(document.content).map(({ id, hash }) => [id, hash]))
  const mappings = [...new Set(blockIds)].map((block_id, ordinal): queries.Mapping => {
    const hash = hashes.get(block_id)
    if (hash === undefined) throw noSuchBlock(block_id, blockIds.indexOf(block_id))
    return { unit_id: unitId, block_id, ordinal, hash }
  })
  return JSON.stringify(mappings)
}

const module = import.meta.url
const mapping = textComputation({ module, run: mappingsTo })
const showing = pairComputation({ module, run: textsOfUnit })

type UnitKey = queries.TargetKey & { unitId: string }

async function targetOf(tx: Transaction, found: SetMembers, name: Omit<UnitKey, 'workspaceId'>): Promise<DocumentRow> {
  const target = translationNamed(found, { documentId: name.targetId }) as DocumentRow
  // The units of a deleted source are deleted, too. The caller then learns that the source is missing, not the unit.
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

function noSuchBlock(blockId: string, index: number): Refusal {
  const reason = 'the target has no paragraph or heading of this id'
  const details = { path: `/target_block_ids/${index}`, reason, block_id: blockId }
  return new Refusal('block_not_found', { status: 422, details })
}
