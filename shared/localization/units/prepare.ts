import type { Caller } from '../../auth/caller.ts'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { type Actor, recordAudit } from '../audit.ts'
import { findWritable } from '../members.ts'
import { bodiesOf, lockPair, type Pair, type PairBodies, pairOf, translationNamed } from '../pair.ts'
import { unitStatusCounts } from '../resolve.ts'
import { type PlacedUnit, placeUnits, unitTexts } from './present.ts'
import * as queries from './queries.ts'
import type { Prepared } from './schema.ts'
import { textBlocks } from './texts.ts'

/**
 * Derives the units of a translation anew from both bodies. With `by_position`, maps units without a block to blocks
 * without a unit. Changes no body and no review. Refuses with 404 `document_not_found` or `translation_not_found`, with
 * 403 for a viewer, and with 409 `localization_not_active` or `source_document_missing`.
 */
export async function prepareTranslation(
  tx: Transaction,
  input: { caller: Caller; actor: Actor; documentId: string; targetId: string; align: 'by_position' | 'none' },
): Promise<{ prepared: Prepared; target: DocumentRow }> {
  const { caller, align } = input
  const name = { documentId: input.targetId }
  const { found, named } = await findWritable(tx, input, (members) => translationNamed(members, name) as DocumentRow)
  const pair = await lockPair(tx, { caller, pair: pairOf(found, named) })
  const key = { workspaceId: pair.target.workspace_id, targetId: pair.target.id }
  const bodies = await bodiesOf(tx, pair)
  await deriveUnits(tx, { ...key, bodies })
  const units = placeUnits(await queries.unitsOfTarget(tx, key), bodies)
  const mappings = align === 'none' ? [] : alignByPosition(units, bodies)
  if (mappings.length > 0) {
    const unitIds = mappings.map(({ unit_id }) => unit_id)
    await queries.lockUnits(tx, { ...key, unitIds })
    await queries.mapUnits(tx, { ...key, unitIds, mappings })
  }
  await queries.setTranslatedFrom(tx, { ...key, version: pair.source.version })
  await audit(tx, { pair, actor: input.actor, details: { align, mapped: mappings.length } })
  const counts = await unitStatusCounts(tx, { workspaceIds: [key.workspaceId], documentIds: [key.targetId] })
  return {
    prepared: {
      document_set_id: pair.set.id,
      target_document_id: pair.target.id,
      source_version: pair.source.version,
      target_version: pair.target.version,
      unit_count: units.length,
      mapped: mappings.length,
      status_counts: counts.get(key.targetId) ?? {},
    },
    target: pair.target,
  }
}

// Every body write keeps the units up to date. A restored table, for example, may have left some behind.
async function deriveUnits(tx: Transaction, input: queries.TargetKey & { bodies: PairBodies }): Promise<void> {
  const { workspaceId, targetId } = input
  const present = unitTexts(input.bodies.source).map(({ id, hash }) => ({ block_id: id, hash }))
  const units = await queries.unitsOfTarget(tx, input)
  await queries.lockUnits(tx, { workspaceId, targetId, unitIds: units.map(({ id }) => id) })
  await queries.dropUnitsExcept(tx, { workspaceId, targetId, blockIds: present.map(({ block_id }) => block_id) })
  if (present.length > 0) await queries.putUnits(tx, { workspaceId, targetIds: [targetId], change: { present } })
}

// Pairs units without a block and blocks without a unit, type by type, in document order.
function alignByPosition(units: readonly PlacedUnit[], bodies: PairBodies): queries.Mapping[] {
  const mapped = new Set(units.flatMap(({ targets }) => targets.map((block) => block.attrs.id)))
  const free = Map.groupBy(
    textBlocks(bodies.target.document.content).filter(({ id }) => !mapped.has(id)),
    ({ block }) => block.type,
  )
  return units.flatMap(({ unit, source, targets }) => {
    const next = targets.length === 0 ? free.get(source.block.type)?.shift() : undefined
    return next === undefined ? [] : [{ unit_id: unit.id, block_id: next.id, ordinal: 0, hash: next.hash }]
  })
}

async function audit(
  tx: Transaction,
  input: { pair: Pair; actor: Actor; details: Record<string, unknown> },
): Promise<void> {
  const { set, source, target } = input.pair
  await recordAudit(tx, {
    workspaceId: target.workspace_id,
    actor: input.actor,
    entries: [
      {
        action: 'translation.prepared',
        document_set_id: set.id,
        source_document_id: source.id,
        target_document_id: target.id,
        locale: target.locale,
        details: input.details,
      },
    ],
  })
}
