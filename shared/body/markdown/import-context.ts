import type { Definition, Root } from 'mdast'
import type { Warning, WarningCode } from '../document.ts'
import { maximumDepth, refuseNode } from '../normalise-state.ts'

/** What the import of a node knows of the text around it. */
export type ImportContext = {
  source: string
  warnings: Warning[]
  definitions: Map<string, Definition>
  used: Set<string>
  depth: number
  inCell: boolean
  /** How many footnotes the node is inside of. */
  footnotes: number
}

/** The context for the root of a tree: its link definitions, the first of a name winning. */
export function importContext(source: string, root: Root): ImportContext {
  const definitions = new Map<string, Definition>()
  const open: { children: unknown[] }[] = [root]
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const child of parent.children as { type: string; children?: unknown[] }[]) {
      if (child.type === 'definition') collect(definitions, child as unknown as Definition)
      if (child.children !== undefined) open.push(child as { children: unknown[] })
    }
  }
  return { source, warnings: [], definitions, used: new Set(), depth: 0, inCell: false, footnotes: 0 }
}

/** The context one container further in; refuses where no body may go, before the recursion does. */
export function deeper(context: ImportContext): ImportContext {
  // Lists and tables take up to three levels of blocks for one of Markdown.
  if (context.depth >= maximumDepth) {
    throw refuseNode({ path: '/content', blockId: null }, `blocks nest deeper than ${maximumDepth} levels`)
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
