import type { BodyNode } from '../document.ts'
import { inlineTypes } from '../nodes.ts'

/** What was wrong at a place; `block_id` is the nearest block with an id, as it was called before. */
export type Repair = { kind: RepairKind; type: string; block_id: string | null }
export type RepairKind =
  | 'id_added'
  | 'id_changed'
  | 'retyped'
  | 'wrapped'
  | 'unwrapped'
  | 'rearranged'
  | 'filled'
  | 'removed'
  | 'values'

/** Where a repair collects what it did, how deep containers may stand, and the nearest block around. */
export type Pass = { repairs: Repair[]; deepest: number; blockId: string | null }

/** Reports a repair of a node. */
export function note(pass: Pass, kind: RepairKind, node: BodyNode): void {
  pass.repairs.push({ kind, type: node.type, block_id: idOrNull(node) ?? pass.blockId })
}

/** The block id of a node, valid or not. */
export function idOrNull(node: BodyNode): string | null {
  const id = inlineTypes.has(node.type) ? undefined : node.attrs?.id
  return typeof id === 'string' ? id : null
}
