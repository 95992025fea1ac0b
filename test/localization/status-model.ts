/** A translation unit as simply as possible: texts instead of hashes, and the facts from which its status follows. */
export type ModelUnit = {
  id: string
  source: string
  blocks: string[]
  baseSource: string | null
  baseTarget: string | null
  kind: 'machine' | 'confirmed' | null
  ignored: boolean
}

/** Returns the status of a unit by the table in `api/guide/translation.md#statuses`, row by row. */
export function statusOf(unit: ModelUnit, target: string): string {
  const sourceIsBase = unit.baseSource === null || unit.baseSource === unit.source
  const targetIsBase = unit.baseTarget !== null && unit.baseTarget === target
  if (unit.ignored) return 'ignored'
  if (unit.kind === 'confirmed' && sourceIsBase && targetIsBase) return 'current'
  if (target === '') return 'missing'
  if (!sourceIsBase && !targetIsBase) return 'conflict'
  if (!sourceIsBase) return 'source_changed'
  if (!targetIsBase || unit.kind === null) return 'manually_edited'
  return 'machine_translated'
}

/** A source of paragraphs and one translation of it, without a database, versions or transactions. */
export class TranslationModel {
  /** Units by the id of their source block. */
  readonly units = new Map<string, ModelUnit>()
  /** The texts of the target by block id. */
  readonly target = new Map<string, string>()
  sourceChanges = 0

  textOf(unit: ModelUnit): string {
    return unit.blocks
      .map((id) => this.target.get(id) ?? '')
      .filter((text) => text !== '')
      .join('\n')
  }

  statuses(order: readonly string[]): string[] {
    return order.flatMap((id) => {
      const unit = this.units.get(id)
      return unit === undefined ? [] : [statusOf(unit, this.textOf(unit))]
    })
  }

  editSource(block: string, text: string): void {
    const unit = this.units.get(block)
    if ((unit?.source ?? '') === text) return
    this.sourceChanges += 1
    if (text === '') this.units.delete(block)
    else if (unit !== undefined) unit.source = text
    else this.units.set(block, newUnit(text))
  }

  editTarget(block: string, text: string): void {
    if (this.target.get(block) === text) return
    this.target.set(block, text)
    for (const unit of this.units.values()) {
      const isFirst = unit.kind === null && unit.baseSource === null
      if (unit.blocks.includes(block) && isFirst && this.textOf(unit) !== '') unit.baseSource = unit.source
    }
  }

  review(unit: ModelUnit, review: { status: 'current' | 'ignored'; blocks?: string[] | undefined }): void {
    if (review.blocks !== undefined) unit.blocks = review.blocks
    if (review.status === 'ignored') {
      unit.ignored = true
      return
    }
    Object.assign(unit, { ignored: false, kind: 'confirmed', baseSource: unit.source, baseTarget: this.textOf(unit) })
  }

  /** Writes a text of a machine into a block of a unit. Deletes the other blocks that belong to this unit alone. */
  apply(unit: ModelUnit, written: { block: string; text: string }): void {
    const others = [...this.units.values()].filter((other) => other !== unit)
    for (const id of unit.blocks) {
      if (id !== written.block && !others.some(({ blocks }) => blocks.includes(id))) this.target.delete(id)
    }
    this.target.set(written.block, written.text)
    Object.assign(unit, { blocks: [written.block], kind: 'machine', baseSource: unit.source, baseTarget: written.text })
  }
}

/** Returns a unit whose text nobody has translated. */
export function newUnit(source: string): ModelUnit {
  return { id: '', source, blocks: [], baseSource: null, baseTarget: null, kind: null, ignored: false }
}
