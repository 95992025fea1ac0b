import type { Editor, JSONContent } from '@tiptap/core'
import { Fragment, Slice } from '@tiptap/pm/model'
import { Selection, TextSelection, type Transaction } from '@tiptap/pm/state'
import { canSplit } from '@tiptap/pm/transform'

/**
 * A place in the document for something that comes later. The place stays between the same letters while people write,
 * and what this editor types at the place stands behind it. `forget` ends the following.
 */
export class KeptPlace {
  readonly #editor: Editor
  #position: number

  constructor(editor: Editor, position: number) {
    this.#editor = editor
    this.#position = position
    editor.on('transaction', this.#follow)
  }

  /** Where the place is now. */
  get position(): number {
    return Math.min(this.#position, this.#editor.state.doc.content.size)
  }

  moveTo(position: number): void {
    this.#position = position
  }

  forget(): void {
    this.#editor.off('transaction', this.#follow)
  }

  #follow = ({ transaction }: { transaction: Transaction }): void => {
    if (transaction.docChanged) this.#position = transaction.mapping.map(this.#position, -1)
  }
}

/** Sets the caret to the end of the selection, so that nothing selected is replaced. Returns the end's position. */
export function leaveSelection(editor: Editor): number {
  const { to, $to } = editor.state.selection
  if ($to.parent.inlineContent) editor.commands.setTextSelection(to)
  return to
}

/**
 * Inserts nodes, which are all inline or all blocks, and deletes nothing but the empty paragraph that blocks take the
 * place of. Blocks split a text within which they are inserted. A caret at the position goes behind the nodes. Returns
 * the position behind the nodes.
 */
export function insertAt(editor: Editor, position: number, content: JSONContent[]): number {
  const nodes = Fragment.fromJSON(editor.schema, content)
  if (nodes.size === 0) return position
  const { tr, selection } = editor.state
  const isSelectedText = selection instanceof TextSelection && !selection.empty
  const end = nodes.firstChild?.isInline ? putInline(tr, { position, nodes }) : putBlocks(tr, { position, nodes })
  if (selection.to === position && !isSelectedText) setCaretBehind(tr, end)
  editor.view.dispatch(tr)
  return end
}

/** Inserts a text as ProseMirror pastes plain text: a line of the text becomes a paragraph. */
export function insertLines(editor: Editor, position: number, text: string): void {
  const { tr, schema } = editor.state
  const lines = text
    .split(/[\r\n]+/)
    .map((line) => schema.node('paragraph', null, line === '' ? [] : schema.text(line)))
  editor.view.dispatch(tr.replace(position, position, new Slice(Fragment.from(lines), 1, 1)))
}

type Insertion = { position: number; nodes: Fragment }

function putInline(tr: Transaction, { position, nodes }: Insertion): number {
  const $at = tr.doc.resolve(position)
  if ($at.parent.inlineContent && $at.parent.canReplace($at.index(), $at.index(), nodes)) {
    tr.insert(position, nodes)
    return position + nodes.size
  }
  const paragraph = tr.doc.type.schema.node('paragraph', null, nodes)
  return putBlocks(tr, { position, nodes: Fragment.from(paragraph) })
}

/** Inserts blocks where the schema allows them, near a position. Returns the position behind them. */
export function putBlocks(tr: Transaction, { position, nodes }: Insertion): number {
  const { from, to } = placeOfBlocks(tr, { position, nodes })
  tr.replaceWith(from, to, nodes)
  return from + nodes.size
}

// The nearest place between blocks where the schema allows the nodes, which may be within a text that is split there.
function placeOfBlocks(tr: Transaction, { position, nodes }: Insertion): { from: number; to: number } {
  const $at = tr.doc.resolve(position)
  const { parent, parentOffset, depth } = $at
  const at = (place: number) => ({ from: place, to: place })
  if (!parent.isTextblock) {
    if (parent.canReplace($at.index(), $at.index(), nodes)) return at(position)
  } else if (!parent.type.spec.code) {
    const [around, index, { size }] = [$at.node(-1), $at.index(-1), parent.content]
    if (size === 0 && around.canReplace(index, index + 1, nodes)) return { from: $at.before(), to: $at.after() }
    if (size > 0 && parentOffset === 0 && around.canReplace(index, index, nodes)) return at($at.before())
    const isWithin = parentOffset > 0 && parentOffset < size
    if (isWithin && around.canReplace(index + 1, index + 1, nodes) && canSplit(tr.doc, position)) {
      tr.split(position)
      return at(position + 1)
    }
  }
  for (let above = depth - 1; above >= 0; above -= 1) {
    const index = $at.indexAfter(above)
    if ($at.node(above).canReplace(index, index, nodes)) return at($at.after(above + 1))
  }
  return at(tr.doc.content.size)
}

// Behind a node without a text, such as a picture, the caret needs a text. Otherwise the next letter replaces the node.
function setCaretBehind(tr: Transaction, end: number): void {
  const $end = tr.doc.resolve(end)
  const near = Selection.near($end, -1)
  if ($end.parent.inlineContent) tr.setSelection(TextSelection.create(tr.doc, end))
  else if (near instanceof TextSelection) tr.setSelection(near)
  else {
    const next = $end.nodeAfter
    if (!next?.isTextblock || next.type.spec.code) tr.insert(end, tr.doc.type.schema.node('paragraph'))
    tr.setSelection(TextSelection.create(tr.doc, end + 1))
  }
  tr.scrollIntoView()
}
