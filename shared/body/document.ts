/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json }

/** The attributes of a node or mark. */
export type Attrs = { [name: string]: Json }

/** A mark of decisions 2.5, such as `bold` or `link`. */
export type Mark = { type: string; attrs?: Attrs }

/** Any node of a document. What a node of a type may hold is fixed by the table in `nodes.ts`. */
export type BodyNode = { type: string; attrs?: Attrs; content?: BodyNode[]; marks?: Mark[]; text?: string }

/** A node that carries a block id: every node but `doc` and the inline ones. */
export type BlockNode = BodyNode & { attrs: Attrs & { id: string } }

/** A whole body in the tiptap-json format. A normalised document holds at least one block. */
export type DocNode = { type: 'doc'; content: BlockNode[] }

/** Something a conversion could not carry over, as content responses list it (decisions 2.5). */
export type Warning = { code: WarningCode; message: string; block_id: string | null }

/** What kind of loss or oddity a warning reports. */
export type WarningCode =
  | 'attrs_dropped'
  | 'block_dropped'
  | 'image_dropped'
  | 'link_removed'
  | 'marks_dropped'
  | 'misplaced_anchor'
  | 'node_simplified'
  | 'table_flattened'
  | 'unused_anchor'
  | 'warnings_truncated'

// So many warnings of one answer are shown.
const shownWarnings = 100

/**
 * The warnings of an answer: the first 100, and behind them one with the code `warnings_truncated` that says how many
 * were left out. A request can give rise to far more text of warnings than it holds itself.
 */
export function answerWarnings(warnings: readonly Warning[]): Warning[] {
  const left = warnings.length - shownWarnings
  if (left <= 0) return [...warnings]
  const message = left === 1 ? 'One more warning was left out.' : `${left} more warnings were left out.`
  return [...warnings.slice(0, shownWarnings), { code: 'warnings_truncated', message, block_id: null }]
}
