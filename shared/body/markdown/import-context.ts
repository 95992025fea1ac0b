import type { Definition, Root } from 'mdast'
import type { Refusal } from '../../errors/errors.ts'
import { checkBytes, maximumDepth } from '../body-limits.ts'
import type { Warning, WarningCode } from '../document.ts'
import { refuseNode } from '../normalise-state.ts'

/** A context that describes the surroundings of an imported node. */
export type ImportContext = {
  source: string
  /** The number of lines of the whole text above the source. */
  linesAbove: number
  /** The JSON pointer of the text in the request. */
  path: string
  /**
   * The bytes of addresses and titles in the body so far. A definition that many links use counts once for each link.
   */
  spent: { bytes: number; limit: number | undefined }
  warnings: Warning[]
  definitions: Map<string, Definition>
  used: Set<string>
  depth: number
  inCell: boolean
  /** The number of footnotes around the node. */
  footnotes: number
}

type Text = { source: string; path: string; byteLimit: number | undefined; linesAbove?: number }

/** The context of the root of a tree, with its link definitions. The first definition of a name wins. */
export function importContext(root: Root, { source, path, byteLimit, linesAbove = 0 }: Text): ImportContext {
  const definitions = new Map<string, Definition>()
  const open: { children: unknown[] }[] = [root]
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const child of parent.children as { type: string; children?: unknown[] }[]) {
      if (child.type === 'definition') collect(definitions, child as unknown as Definition)
      if (child.children !== undefined) open.push(child as { children: unknown[] })
    }
  }
  const spent = { bytes: 0, limit: byteLimit }
  const place = { depth: 0, inCell: false, footnotes: 0 }
  return { source, linesAbove, path, spent, warnings: [], definitions, used: new Set(), ...place }
}

/** The refusal 422 `invalid_node` of content that no body may hold. The pointer names the whole text. */
export function refuseText({ path }: Pick<ImportContext, 'path'>, reason: string): Refusal {
  return refuseNode({ path, blockId: null }, reason)
}

/**
 * Adds `times` times the bytes of an address and its title to the sum for the body. Refuses with 422
 * `document_too_large` when the sum exceeds the limit.
 */
export function spend(context: ImportContext, target: { url: string; title?: string | null }, times: number): void {
  const { spent } = context
  spent.bytes += times * (Buffer.byteLength(target.url) + Buffer.byteLength(target.title ?? ''))
  checkBytes(spent.bytes, spent.limit)
}

/**
 * The context of the next container inside. Refuses with 422 `invalid_node` when containers nest deeper than a body
 * may, before the recursion can exhaust the stack.
 */
export function deeper(context: ImportContext): ImportContext {
  // The recursion is bounded here. The normaliser counts the levels of blocks, which can be more. A level of lists or
  // tables in Markdown makes up to three levels of blocks.
  if (context.depth >= maximumDepth) {
    throw refuseText(context, `blocks nest deeper than ${maximumDepth} levels`)
  }
  return { ...context, depth: context.depth + 1 }
}

/** Reports content that an import leaves out or changes, with its line. */
export function warnAt(context: ImportContext, at: Warned): void {
  const line = context.linesAbove + (at.line ?? 1)
  context.warnings.push({ code: at.code, message: `Line ${line}: ${at.message}`, block_id: at.blockId ?? null })
}

type Warned = { code: WarningCode; message: string; line: number | undefined; blockId?: string }

// `importContext` visits the end of the tree first, so the offsets decide which of two definitions of a name is the
// earlier definition.
function collect(definitions: Map<string, Definition>, node: Definition): void {
  const known = definitions.get(node.identifier)
  const isEarlier = (known?.position?.start.offset ?? 0) > (node.position?.start.offset ?? 0)
  if (known === undefined || isEarlier) definitions.set(node.identifier, node)
}
