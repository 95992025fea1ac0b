import { BlockLines, type BlockPath, nodeAt } from '../../body/block-lines.ts'
import type { BlockNode, BodyNode } from '../../body/document.ts'
import { isBlockType } from '../../body/nodes.ts'
import { gapOf, locate, putAt, takeOut } from '../../body/placement.ts'
import { StoredBody } from '../../body/stored-body.ts'
import { Refusal } from '../../errors/errors.ts'
import { newId } from '../../schema/ids.ts'
import { type PairTexts, pairComputation, unitsIn } from '../units/pair-texts.ts'
import type { PlacedUnit } from '../units/present.ts'
import type { Mapping, UnitPlace } from '../units/queries.ts'
import { blank, textBlocks } from '../units/texts.ts'

/**
 * A result of writing texts into a translation that has the new text of its body. `mappings` has the block of each
 * written unit with the hash of the text.
 */
export type AppliedTexts = { text: string; mappings: Mapping[] }

/** A request to write texts that has the bodies and the units of a translation, and the new texts. */
type Application = PairTexts & { contents: readonly { unitId: string; content: BodyNode[] }[] }

/**
 * Writes translated texts into the body of a translation. The text of a unit replaces the blocks of the unit. For a
 * unit without blocks, a new block is inserted after the block of the unit before it, else at the end. A block that
 * belongs to several units is left alone, because a person may have written its text. A thread calls this function by
 * its name. @public
 */
export function applyTexts({ contents: named, ...texts }: Application): AppliedTexts {
  const units = unitsIn<UnitPlace>(texts)
  const contents = new Map(named.map(({ unitId, content }) => [unitId, content]))
  const body = new BlockLines(texts.target.split('\n'))
  const placeholder = placeholderOf(body, units)
  const parents = parentsOf(new StoredBody({ version: '', text: texts.source }))
  const shared = sharedBlocks(units)
  const blockIds = new Map<string, string>()
  let before: { sourceId: string; blockId: string } | null = null
  for (const { unit, source, targets } of units) {
    const content = contents.get(unit.id)
    const own = targets.map((block) => block.attrs.id).filter((id) => !shared.has(id))
    let blockId = targets.at(-1)?.attrs.id
    if (content !== undefined && own.length > 0) blockId = replaceTexts(body, own, content)
    else if (content !== undefined) {
      const isSibling = before !== null && parents.get(before.sourceId) === parents.get(source.id)
      blockId = insertText(body, copyOf(source.block, content), { after: before?.blockId ?? null, isSibling })
    }
    if (content !== undefined && blockId !== undefined) blockIds.set(unit.id, blockId)
    if (blockId !== undefined) before = { sourceId: source.id, blockId }
  }
  if (placeholder !== null && body.length > 1) takeOut(body, locate(body, placeholder))
  const lines = body.toLines()
  return { text: lines.join('\n'), mappings: mappingsOf(lines, blockIds) }
}

/** Computes the body of a translation with new texts, in a thread for large bodies. */
export const applying = pairComputation({ module: import.meta.url, run: applyTexts })

function mappingsOf(lines: readonly string[], blockIds: ReadonlyMap<string, string>): Mapping[] {
  if (blockIds.size === 0) return []
  const written = new Set(blockIds.values())
  const texts = textBlocks(lines.map((line) => JSON.parse(line))).filter(({ id }) => written.has(id))
  const hashes = new Map(texts.map(({ id, hash }) => [id, hash]))
  return [...blockIds].map(([unit_id, block_id]) => {
    return { unit_id, block_id, ordinal: 0, hash: hashes.get(block_id) ?? blank }
  })
}

// Several blocks of a unit become one block, because the unit is one block in the source document.
function replaceTexts(body: BlockLines, ids: readonly string[], content: BodyNode[]): string {
  const [first = '', ...others] = ids
  const location = locate(body, first)
  const { attrs, type } = nodeAt(body.block(location.position), location.path)
  putAt(body, gapOf(location), { count: 1, blocks: [{ attrs, content, type }] })
  for (const id of others) takeOut(body, locate(body, id))
  return first
}

function insertText(
  body: BlockLines,
  block: BlockNode,
  neighbour: { after: string | null; isSibling: boolean },
): string {
  const end = { parent: null, index: body.length }
  const location = neighbour.after === null ? null : body.find(neighbour.after)
  if (location === null) putAt(body, end, { count: 0, blocks: [block] })
  else {
    const { parent, index } = gapOf(neighbour.isSibling ? location : topOf(location))
    try {
      putAt(body, { parent, index: index + 1 }, { count: 0, blocks: [block] })
    } catch (error) {
      // Some positions do not allow every block: a heading, for example, may not stand deep within lists. The block
      // then goes to the end, so that it is not lost.
      if (!(error instanceof Refusal) || error.code !== 'invalid_position') throw error
      putAt(body, end, { count: 0, blocks: [block] })
    }
  }
  return block.attrs.id
}

function topOf({ position }: BlockPath): BlockPath {
  return { position, path: [] }
}

function copyOf(source: BlockNode, content: BodyNode[]): BlockNode {
  return { attrs: { ...source.attrs, id: newId('block') }, content, type: source.type }
}

// Returns the id of the empty paragraph that a new body consists of, or null. The empty paragraph is deleted once the
// body has a text.
function placeholderOf(body: BlockLines, units: readonly PlacedUnit<UnitPlace>[]): string | null {
  const only = body.length === 1 ? body.block(0) : null
  if (only?.type !== 'paragraph' || only.content !== undefined) return null
  const isMapped = units.some(({ targets }) => targets.some((block) => block.attrs.id === only.attrs.id))
  return isMapped ? null : only.attrs.id
}

function sharedBlocks(units: readonly PlacedUnit<UnitPlace>[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const shared = new Set<string>()
  for (const block of units.flatMap(({ targets }) => targets)) {
    if (seen.has(block.attrs.id)) shared.add(block.attrs.id)
    seen.add(block.attrs.id)
  }
  return shared
}

function parentsOf(body: StoredBody): ReadonlyMap<string, string | null> {
  const parents = new Map<string, string | null>()
  const visit = (block: BlockNode, parent: string | null): void => {
    parents.set(block.attrs.id, parent)
    for (const child of block.content ?? []) if (isBlockType(child.type)) visit(child as BlockNode, block.attrs.id)
  }
  for (const block of body.document.content) visit(block, null)
  return parents
}
