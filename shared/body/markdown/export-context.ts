import type { BlockNode, BodyNode, Warning, WarningCode } from '../document.ts'

/** What an export could not carry over: each loss once a block and wording, by a key of those. */
export type ExportWarnings = Map<string, Warning>

/** What the export of a block knows: which block warnings belong to, and where it stands. */
export type ExportContext = {
  warnings: ExportWarnings
  blockId: string | null
  /** Labels that a footnoteDefinition of the document carries, lower-cased; null when unknown. */
  labels: ReadonlySet<string> | null
  /** Nothing follows in the container, or in the text if that is the container. */
  isLast: boolean
  inFootnote?: boolean
  place: 'top' | 'first' | 'nested' | 'listHead' | 'cell' | 'heading'
}

/** Reports a loss once per block and wording. */
export function warn(context: ExportContext, code: WarningCode, message: string): void {
  const { warnings, blockId } = context
  const key = `${blockId} ${code} ${message}`
  if (!warnings.has(key)) warnings.set(key, { code, message, block_id: blockId })
}

/** The context for the inside of a node. */
export function inside(context: ExportContext, node: BodyNode, place: ExportContext['place']): ExportContext {
  return { ...context, blockId: (node as BlockNode).attrs?.id ?? context.blockId, place }
}
