import type { BlockNode } from '../../body/document.ts'
import type { StoredBody } from '../../body/stored-body.ts'
import { plainText } from '../../body/text.ts'
import { inlineMarkdown } from '../inline/markdown.ts'
import type { Pair, PairBodies } from '../pair.ts'
import type { TranslationFreshness, UnitStatus } from '../schema.ts'
import type { UnitPlace, UnitRow } from './queries.ts'
import type { TranslationUnit } from './schema.ts'
import { blank, type TextBlock, textBlocks } from './texts.ts'

/**
 * A unit with its position in the source document, its source text, and those of its mapped blocks that are still in
 * the translation.
 */
export type PlacedUnit<Unit extends UnitPlace = UnitRow> = {
  unit: Unit
  position: number
  source: TextBlock
  targets: readonly BlockNode[]
}

/**
 * A set of members of a presented unit that follow from the blocks of the unit alone. `translation` is '' for a blank
 * text.
 */
export type UnitTexts = Pick<
  TranslationUnit,
  'source_block_id' | 'block_type' | 'position' | 'source_text' | 'target_blocks' | 'target_block_ids'
> & { translation: string }

/** Returns the texts of a source document that have units, in document order. */
export function unitTexts(body: StoredBody): TextBlock[] {
  return textBlocks(body.document.content).filter(({ hash }) => hash !== blank)
}

/** Sorts units in the order of the source document and adds their texts. Leaves out units whose source text is gone. */
export function placeUnits<Unit extends UnitPlace>(units: readonly Unit[], bodies: PairBodies): PlacedUnit<Unit>[] {
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
  const texts = textsOf(placed)
  return placed.map(({ unit }, index) => presentUnit(pair, { unit, texts: texts[index] as UnitTexts }))
}

/** Returns the texts of units as the API shows them. */
export function textsOf(placed: readonly PlacedUnit<UnitPlace>[]): UnitTexts[] {
  const texts = inlineMarkdown(
    placed.flatMap(({ source, targets }) => [source.block.content, ...targets.map(({ content }) => content)]),
  )
  let next = 0
  return placed.map(({ position, source, targets }) => {
    const [source_text = '', ...translations] = texts.slice(next, next + 1 + targets.length)
    next += 1 + targets.length
    return {
      source_block_id: source.id,
      block_type: source.block.type as TranslationUnit['block_type'],
      position,
      source_text,
      target_blocks: targets.map((block) => ({ block_id: block.attrs.id, type: block.type, text: plainText(block) })),
      target_block_ids: targets.map((block) => block.attrs.id),
      translation: translations.filter((text) => text !== '').join('\n'),
    }
  })
}

/** Returns a unit with its texts in the shape of the API. */
export function presentUnit(pair: Pair, { unit, texts }: { unit: UnitRow; texts: UnitTexts }): TranslationUnit {
  const { translation, source_block_id, block_type, position, source_text, ...targets } = texts
  return {
    id: unit.id,
    document_set_id: pair.set.id,
    source_document_id: pair.source.id,
    target_document_id: pair.target.id,
    source_locale: pair.set.source_locale,
    target_locale: pair.target.locale ?? '',
    source_block_id,
    block_type,
    position,
    source_text,
    source_hash: unit.source_hash,
    source_version: pair.source.version,
    target_version: pair.target.version,
    ...targets,
    target_text: unit.target_hash === blank ? null : translation,
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
