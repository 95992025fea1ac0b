import type { BlockNode } from '../../body/document.ts'
import type { StoredBody } from '../../body/stored-body.ts'
import { plainText } from '../../body/text.ts'
import { inlineMarkdown } from '../inline/markdown.ts'
import type { Pair, PairBodies } from '../pair.ts'
import type { TranslationFreshness, UnitStatus } from '../schema.ts'
import type { UnitRow } from './queries.ts'
import type { TranslationUnit } from './schema.ts'
import { blank, type TextBlock, textBlocks } from './texts.ts'

/** A unit with its position in the source, its source text, and its mapped blocks that are in the target. */
export type PlacedUnit = { unit: UnitRow; position: number; source: TextBlock; targets: readonly BlockNode[] }

/** Returns the texts of a source that have units, in document order. */
export function unitTexts(body: StoredBody): TextBlock[] {
  return textBlocks(body.document.content).filter(({ hash }) => hash !== blank)
}

/** Sorts units in the order of the source and adds their texts. Leaves out units whose source text is gone. */
export function placeUnits(units: readonly UnitRow[], bodies: PairBodies): PlacedUnit[] {
  const byBlock = new Map(units.map((unit) => [unit.source_block_id, unit]))
  const blocks = new Map(textBlocks(bodies.target.document.content).map(({ id, block }) => [id, block]))
  return unitTexts(bodies.source).flatMap((source, position) => {
    const unit = byBlock.get(source.id)
    if (unit === undefined) return []
    return [{ unit, position, source, targets: unit.block_ids.flatMap((id) => blocks.get(id) ?? []) }]
  })
}

/** Returns units in the shape of the API. */
export function presentUnits(pair: Pair, placed: readonly PlacedUnit[]): TranslationUnit[] {
  const texts = inlineMarkdown(
    placed.flatMap(({ source, targets }) => [source.block.content, ...targets.map(({ content }) => content)]),
  )
  let next = 0
  return placed.map((one) => {
    const [source = '', ...targets] = texts.slice(next, next + 1 + one.targets.length)
    next += 1 + one.targets.length
    return presentUnit(pair, one, { source, target: targets.filter((text) => text !== '').join('\n') })
  })
}

function presentUnit(pair: Pair, placed: PlacedUnit, text: { source: string; target: string }): TranslationUnit {
  const { unit, position, source, targets } = placed
  return {
    id: unit.id,
    document_set_id: pair.set.id,
    source_document_id: pair.source.id,
    target_document_id: pair.target.id,
    source_locale: pair.set.source_locale,
    target_locale: pair.target.locale ?? '',
    source_block_id: source.id,
    block_type: source.block.type as TranslationUnit['block_type'],
    position,
    source_text: text.source,
    source_hash: unit.source_hash,
    source_version: pair.source.version,
    target_version: pair.target.version,
    target_blocks: targets.map((block) => ({ block_id: block.attrs.id, type: block.type, text: plainText(block) })),
    target_block_ids: targets.map((block) => block.attrs.id),
    target_text: unit.target_hash === blank ? null : text.target,
    status: unit.status,
    freshness: freshness[unit.status],
    origin: originOf(unit),
    reviewed_at: unit.reviewed_at,
    reviewed_by: unit.reviewed_by,
    created_at: unit.created_at,
    updated_at: unit.updated_at,
  }
}

const freshness: Record<UnitStatus, TranslationFreshness> = {
  missing: 'unknown',
  source_changed: 'outdated',
  conflict: 'outdated',
  current: 'current',
  manually_edited: 'current',
  machine_translated: 'current',
  ignored: 'current',
}

function originOf(unit: UnitRow): 'machine' | 'manual' | null {
  if (unit.target_hash === blank) return null
  return unit.target_hash === unit.machine_target ? 'machine' : 'manual'
}
