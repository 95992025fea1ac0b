import type { Caller } from '../../auth/caller.ts'
import { StoredBody, textComputation } from '../../body/stored-body.ts'
import type { Ahead } from '../../computations/ahead.ts'
import type { Transaction } from '../../database/database.ts'
import type { DocumentRow } from '../../documents/queries.ts'
import { type Actor, recordAudit } from '../audit.ts'
import { findWritable } from '../members.ts'
import { bodiesOf, lockPair, type Pair, pairOf, translationNamed } from '../pair.ts'
import { unitStatusCounts } from '../resolve.ts'
import { type PairTexts, pairComputation, unitsIn } from './pair-texts.ts'
import { unitTexts } from './present.ts'
import * as queries from './queries.ts'
import type { Prepared } from './schema.ts'
import { textBlocks } from './texts.ts'

/**
 * Derives the units of a translation anew from both bodies. With `by_position`, also maps units without a block to
 * blocks of the translation without a unit, in document order. Changes no body and no review. Refuses with 404
 * `document_not_found` or `translation_not_found`, with 403 for a viewer, and with 409 `localization_not_active` or
 * `source_document_missing`.
 */
export async function prepareTranslation(
  { tx, ahead }: { tx: Transaction; ahead: Ahead },
  input: { caller: Caller; actor: Actor; documentId: string; targetId: string; align: 'by_position' | 'none' },
): Promise<{ prepared: Prepared; target: DocumentRow }> {
  const { caller, align } = input
  const name = { documentId: input.targetId }
  const { found, named } = await findWritable(tx, input, (members) => translationNamed(members, name) as DocumentRow)
  const pair = await lockPair(tx, { caller, pair: pairOf(found, named) })
  const key = { workspaceId: pair.target.workspace_id, targetId: pair.target.id }
  const bodies = await bodiesOf(tx, pair)
  const texts = { source: bodies.source.text, target: bodies.target.text }
  // Every body write keeps the units up to date. But units that are out of date may be there, for example after a table
  // was restored from a backup.
  const { present, count } = await ahead.result(derivingUnits, { text: texts.source })
  await queries.lockUnitsOfTarget(tx, key)
  await queries.dropUnitsExcept(tx, { ...key, present })
  await queries.putUnits(tx, { workspaceId: key.workspaceId, targetIds: [key.targetId], present })
  const places = { ...texts, units: await queries.unitPlacesOfTarget(tx, key) }
  const { unitIds, mappings } = align === 'none' ? noMappings : await ahead.result(aligning, places)
  if (unitIds.length > 0) await queries.mapUnits(tx, { ...key, unitIds, mappings })
  await queries.setTranslatedFrom(tx, { ...key, version: pair.source.version })
  await audit(tx, { pair, actor: input.actor, details: { align, mapped: unitIds.length } })
  const counts = await unitStatusCounts(tx, { workspaceIds: [key.workspaceId], documentIds: [key.targetId] })
  return {
    prepared: {
      document_set_id: pair.set.id,
      target_document_id: pair.target.id,
      source_version: pair.source.version,
      target_version: pair.target.version,
      unit_count: count,
      mapped: unitIds.length,
      status_counts: counts.get(key.targetId) ?? {},
    },
    target: pair.target,
  }
}

/**
 * Returns the units of a source document's texts as the JSON text that `putUnits` takes, and their number. A thread
 * calls this function by its name. @public
 */
export function textsWithUnits({ text }: { text: string }): { present: string; count: number } {
  const texts = unitTexts(new StoredBody({ version: '', text })).map(({ id, hash }) => ({ block_id: id, hash }))
  return { present: JSON.stringify(queries.newUnits(texts, 1)), count: texts.length }
}

/**
 * Pairs units without a block with blocks of the translation without a unit, type by type, in document order. Returns
 * the paired units and the JSON text of their mappings. A thread calls this function by its name. @public
 */
export function alignByPosition(texts: PairTexts): { unitIds: string[]; mappings: string } {
  const units = unitsIn<queries.UnitPlace>(texts)
  const mapped = new Set(units.flatMap(({ targets }) => targets.map((block) => block.attrs.id)))
  const target = new StoredBody({ version: '', text: texts.target })
  const free = Map.groupBy(
    textBlocks(target.document.content).filter(({ id }) => !mapped.has(id)),
    ({ block }) => block.type,
  )
  const next = new Map(Array.from(free, ([type, blocks]) => [type, blocks.values()]))
  const mappings = units.flatMap(({ unit, source, targets }): queries.Mapping[] => {
    const block = targets.length === 0 ? next.get(source.block.type)?.next().value : undefined
    return block === undefined ? [] : [{ unit_id: unit.id, block_id: block.id, ordinal: 0, hash: block.hash }]
  })
  return { unitIds: mappings.map(({ unit_id }) => unit_id), mappings: JSON.stringify(mappings) }
}

const noMappings = { unitIds: [], mappings: '[]' }
const module = import.meta.url
const aligning = pairComputation({ module, run: alignByPosition })

/** Computes the units of a source document. */
export const derivingUnits = textComputation({ module, run: textsWithUnits })

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
