import type { Definition, Root } from 'mdast'
import type { Refusal } from '../../errors/errors.ts'
import { checkBytes, maximumDepth } from '../body-limits.ts'
import type { Warning, WarningCode } from '../document.ts'
import { refuseNode } from '../normalise-state.ts'

/** What the import of a node knows of the text around it. */
export type ImportContext = {
  source: string
  /** The JSON pointer of the text in the request. */
  path: string
  /** Bytes that addresses and titles take in the body so far; what many links refer to multiplies. */
  spent: { bytes: number; limit: number | undefined }
  warnings: Warning[]
  definitions: Map<string, Definition>
  used: Set<string>
  depth: number
  inCell: boolean
  /** How many footnotes the node is inside of. */
  footnotes: number
}

type Text = { source: string; path: string; byteLimit: number | undefined }

/** The context for the root of a tree: its link definitions, the first of a name winning. */
export function importContext(root: Root, { source, path, byteLimit }: Text): ImportContext {
  const definitions = new Map<string, Definition>()
  const open: { children: unknown[] }[] = [root]
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const child of parent.children as { type: string; children?: unknown[] }[]) {
      if (child.type === 'definition') collect(definitions, child as unknown as Definition)
      if (child.children !== undefined) open.push(child as { children: unknown[] })
    }
  }
  const spent = { bytes: 0, limit: byteLimit }
  return { source, path, spent, warnings: [], definitions, used: new Set(), depth: 0, inCell: false, footnotes: 0 }
}

/** 422 `invalid_node` for what no body may hold; the place is the text as a whole. */
export function refuseText({ path }: Pick<ImportContext, 'path'>, reason: string): Refusal {
  return refuseNode({ path, blockId: null }, reason)
}

/** Counts an address with its title, so many times as the body will hold it; refuses when that is over the cap. */
export function spend(context: ImportContext, target: { url: string; title?: string | null }, times: number): void {
  const { spent } = context
  spent.bytes += times * (Buffer.byteLength(target.url) + Buffer.byteLength(target.title ?? ''))
  checkBytes(spent.bytes, spent.limit)
}

/** The context one container further in; refuses where no body may go, before the recursion does. */
export function deeper(context: ImportContext): ImportContext {
  // Lists and tables take up to three levels of blocks for one of Markdown.
  if (context.depth >= maximumDepth) {
    throw refuseText(context, `blocks nest deeper than ${maximumDepth} levels`)
  }
  return { ...context, depth: context.depth + 1 }
}

/** Reports what an import leaves out or reads otherwise, with the line where it stands. */
export function warnAt(context: ImportContext, at: Warned): void {
  context.warnings.push({ code: at.code, message: `Line ${at.line ?? 1}: ${at.message}`, block_id: at.blockId ?? null })
}

type Warned = { code: WarningCode; message: string; line: number | undefined; blockId?: string }

// The tree is walked from its end, so of two definitions of one name the earlier is seen last or stands earlier.
function collect(definitions: Map<string, Definition>, node: Definition): void {
  const known = definitions.get(node.identifier)
  const isEarlier = (known?.position?.start.offset ?? 0) > (node.position?.start.offset ?? 0)
  if (known === undefined || isEarlier) definitions.set(node.identifier, node)
}
