/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [member: string]: Json }

/** The attributes of a node or mark. */
export type Attrs = { [name: string]: Json }

/** A mark, such as `bold` or `link`. */
export type Mark = { type: string; attrs?: Attrs }

/** A node that stands in a document. The table in `nodes.ts` says what a node of each type may hold. */
export type BodyNode = { type: string; attrs?: Attrs; content?: BodyNode[]; marks?: Mark[]; text?: string }

/** A node with a block id. All nodes but `doc` and the inline nodes have a block id. */
export type BlockNode = BodyNode & { attrs: Attrs & { id: string } }

/** A whole body in the tiptap-json format. A normalised document holds at least one block. */
export type DocNode = { type: 'doc'; content: BlockNode[] }

/** A loss or an oddity of a write or a conversion, as content answers list it. `count` is of `block_ids_replaced`. */
export type Warning = { code: WarningCode; message: string; block_id: string | null; count?: number }

/** A kind of loss or oddity that a warning names. */
export type WarningCode =
  | 'attrs_dropped'
  | 'block_dropped'
  | 'block_ids_replaced'
  | 'image_dropped'
  | 'link_removed'
  | 'marks_dropped'
  | 'misplaced_anchor'
  | 'node_simplified'
  | 'table_flattened'
  | 'unused_anchor'
  | 'warnings_truncated'

// The most warnings that an answer shows.
const shownWarnings = 100

/**
 * The warnings of an answer: the first 100. When there are more, a last warning `warnings_truncated` says how many were
 * left out. Without this limit, a request could cause warnings whose text is far larger than the request.
 */
export function answerWarnings(warnings: readonly Warning[]): Warning[] {
  const left = warnings.length - shownWarnings
  if (left <= 0) return [...warnings]
  const message = left === 1 ? 'One more warning was left out.' : `${left} more warnings were left out.`
  return [...warnings.slice(0, shownWarnings), { code: 'warnings_truncated', message, block_id: null }]
}
