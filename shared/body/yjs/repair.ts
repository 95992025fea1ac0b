import type { ContentMatch } from 'prosemirror-model'
import { maximumDepth } from '../body-limits.ts'
import type { BodyNode } from '../document.ts'
import { bodySchema, inlineTypes } from '../nodes.ts'
import type { RawDocument } from './encoding.ts'
import {
  arranged,
  depthOf,
  idOrNull,
  isContainer,
  missingCells,
  nextChild,
  note,
  type Pass,
  type Repair,
  retyped,
  unwrapped,
} from './repair-nodes.ts'
import { type HoldsId, IdRepair, idsIn, repairAttributes, repairMarks, repairString } from './repair-values.ts'

/**
 * Makes a valid body from a body that came out of a live merge, with as few changes as possible. The result follows the
 * schema, every block has its own id, and no text is lost. When several blocks have the same id, a block that `holds`
 * it keeps it, else a block that is not empty. New ids follow only from `seed`, the old id and an ordinal. Each repair
 * of a document needs another seed (its id and version). Otherwise a new id could equal the id of a block that was
 * deleted since the last repair.
 *
 * Without repairs, the input itself is returned. The result is not in normal form yet. Bodies with too many nodes or
 * characters are not cut. @internal
 */
export function repairDocument(
  body: RawDocument,
  seed: string,
  holds: HoldsId = () => false,
): { document: RawDocument; repairs: Repair[] } {
  const isDeep = body.content.some(isTooDeep)
  const { blocks, repairs } = fitTopLevel(body.content, { isFirst: true, isDeep })
  if (blocks.length === 0) blocks.push(filler(repairs))
  const ids = new IdRepair({ seed, taken: idsIn(blocks, new Set()), kept: new Set(), holds })
  for (const block of blocks) ids.look(block)
  const document: RawDocument = { type: 'doc', content: blocks.map((block) => ids.repaired(block)) }
  repairs.push(...ids.repairs)
  return repairs.length > 0 ? { document, repairs } : { document: body, repairs }
}

/**
 * Makes valid blocks from top-level nodes. `isFirst` tells whether a body begins with these nodes. With `isDeep`, some
 * block of the body lies too deep, so that all containers must leave levels free for wrapping. Ids stay as they are.
 */
export function fitTopLevel(
  nodes: readonly BodyNode[],
  { isFirst, isDeep }: { isFirst: boolean; isDeep: boolean },
): { blocks: BodyNode[]; repairs: Repair[] } {
  const repairs: Repair[] = []
  const deepest = isDeep ? maximumDepth - deepestWrapping : Number.POSITIVE_INFINITY
  const pass = { repairs, deepest, blockId: null }
  return { blocks: fitChildren({ type: 'doc', children: nodes, depth: 0, isFirst }, pass), repairs }
}

/** True if blocks lie in a top-level node on more levels than a body may have. */
export function isTooDeep(node: BodyNode): boolean {
  return !inlineTypes.has(node.type) && depthOf(node) > maximumDepth
}

/** The block of a body that would be empty. The repair is added to `repairs`. */
export function filler(repairs: Repair[]): BodyNode {
  repairs.push({ kind: 'filled', type: 'doc', block_id: null })
  return { type: 'paragraph' }
}

// The levels that wrapping can add: a text below the deepest block may need a table, row, cell and paragraph around it.
const deepestWrapping = 4
// Parents that hold an empty paragraph rather than nothing.
const keptWhenEmpty = new Set(['tableCell', 'tableHeader', 'detailsContent'])

type Parent = { type: string; children: readonly BodyNode[]; depth: number; isFirst?: boolean }

function fitChildren({ type, children, depth, isFirst = true }: Parent, pass: Pass): BodyNode[] {
  const fitted: BodyNode[] = []
  const open = [...arranged({ type, content: [...children] }, pass)].reverse()
  let match = matchOf(type)
  for (let child = nextChild(open, type, pass); child; child = nextChild(open, type, pass)) {
    const slot = { parent: type, isFirst: isFirst && fitted.length === 0, match }
    const fitting = depth >= pass.deepest && isContainer(child) ? null : fittingOf(child, slot, pass)
    if (fitting === null) {
      note(pass, unwrapped(child).length === 0 ? 'removed' : 'unwrapped', child)
      for (const node of unwrapped(child).toReversed()) open.push(node)
      continue
    }
    for (const node of [...fitting.before, fitting.node]) {
      const complete = repairNode(node, depth + 1, pass)
      if (!complete) continue
      fitted.push(complete)
      match = matchType(match, complete.type) ?? match
    }
  }
  return filledUp({ type, fitted, match }, depth, pass)
}

function repairNode(node: BodyNode, depth: number, pass: Pass): BodyNode | null {
  const inner = { ...pass, blockId: idOrNull(node) ?? pass.blockId }
  if (node.type === 'text') {
    const text = repairString(node.text ?? '')
    if (text !== node.text) note(inner, 'values', node)
    return text === '' ? null : withMarks({ ...node, text }, inner)
  }
  const attrs = repairAttributes(node)
  if (attrs !== node.attrs) note(inner, 'values', node)
  const { content: _, ...rest } = withMarks({ ...node, ...(attrs && { attrs }) }, inner)
  if (bodySchema.nodes[node.type]?.isLeaf) return rest
  const fitted = fitChildren({ type: node.type, children: node.content ?? [], depth }, inner)
  const content = node.type === 'table' ? fitted.map(filledRow(fitted, depth + 1, inner)) : fitted
  if (content.length > 0) return { ...rest, content }
  if (matchOf(node.type)?.validEnd) return rest
  note(inner, 'removed', node)
  return null
}

// Adds the cells that a row of a table lacks, each like the last cell of the row.
function filledRow(rows: readonly BodyNode[], depth: number, pass: Pass): (row: BodyNode, index: number) => BodyNode {
  const missing = missingCells(rows)
  return (row, index) => {
    const type = row.content?.at(-1)?.type ?? 'tableCell'
    const added = Array.from({ length: missing[index] ?? 0 }, () => repairNode({ type }, depth + 1, pass) ?? [])
    if (added.length === 0) return row
    note(pass, 'filled', row)
    return { ...row, content: [...(row.content ?? []), ...added.flat()] }
  }
}

/** Repairs the marks of an inline node, and removes the marks of any other node. */
function withMarks(node: BodyNode, pass: Pass): BodyNode {
  const marks = inlineTypes.has(node.type) ? repairMarks(node.marks) : undefined
  if (marks === node.marks) return node
  note(pass, 'values', node)
  const { marks: _, ...rest } = node
  return marks && marks.length > 0 ? { ...rest, marks } : rest
}

type Slot = { parent: string; isFirst: boolean; match: ContentMatch | undefined }
type Fitting = { before: BodyNode[]; node: BodyNode }

/**
 * A form of the child that may stand at the slot, with the nodes that must come before the child. Null if no such form
 * exists.
 */
function fittingOf(given: BodyNode, { parent, isFirst, match }: Slot, pass: Pass): Fitting | null {
  const child = retyped(given, { parent, isFirst })
  if (child !== given) note(pass, 'retyped', given)
  const type = Object.hasOwn(bodySchema.nodes, child.type) ? bodySchema.nodes[child.type] : undefined
  if (!type || !match) return null
  if (match.matchType(type)) return { before: [], node: withoutForeignMarks(child, parent, pass) }
  const wrapping = match.findWrapping(type)
  if (wrapping) {
    note(pass, 'wrapped', child)
    const wrap = (node: BodyNode, wrapper: { name: string }) => ({ type: wrapper.name, content: [node] })
    return { before: [], node: wrapping.reduceRight<BodyNode>(wrap, child) }
  }
  const filler = match.defaultType
  const after = filler ? match.matchType(filler) : null
  if (!filler || !after?.matchType(type)) return null
  note(pass, 'filled', child)
  return { before: [{ type: filler.name }], node: child }
}

function withoutForeignMarks(child: BodyNode, parent: string, pass: Pass): BodyNode {
  if (parent !== 'codeBlock' || !child.marks?.length) return child
  note(pass, 'values', child)
  const { marks: _, ...rest } = child
  return rest
}

type Unfilled = { type: string; fitted: BodyNode[]; match: ContentMatch | undefined }

function filledUp({ type, fitted, match }: Unfilled, depth: number, pass: Pass): BodyNode[] {
  if (match?.validEnd || (fitted.length === 0 && !keptWhenEmpty.has(type))) return fitted
  const filler = match?.defaultType
  const node = filler && repairNode({ type: filler.name }, depth + 1, pass)
  if (!filler || !node) return fitted
  pass.repairs.push({ kind: 'filled', type, block_id: pass.blockId })
  return filledUp({ type, fitted: [...fitted, node], match: match?.matchType(filler) ?? undefined }, depth, pass)
}

function matchOf(type: string): ContentMatch | undefined {
  return bodySchema.nodes[type]?.contentMatch
}

function matchType(match: ContentMatch | undefined, name: string): ContentMatch | null {
  const type = bodySchema.nodes[name]
  return (type && match?.matchType(type)) ?? null
}
