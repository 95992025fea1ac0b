import { type Editor, Extension } from '@tiptap/core'
import { isChangeOrigin } from '@tiptap/extension-collaboration'
import type { Node as DocumentNode } from '@tiptap/pm/model'
import { type EditorState, Plugin, PluginKey, type Transaction } from '@tiptap/pm/state'
import { Decoration, DecorationSet, type EditorView } from '@tiptap/pm/view'
import { gapsBetween, indexAt, joined, type Range, startOf } from './block-ranges.ts'
import { readSelection } from './kept-caret.ts'
import { createGap, WindowView } from './window-view.ts'

/*
 * A browser lays out a whole document for each letter, and looks through all of its text. So a long document shows only
 * the blocks near the screen and near the selection. All other blocks are in the page without a layout, and gaps of
 * about their height stand in their place.
 */

// Shorter documents are shown as a whole.
const mostBlocks = 400

// So many blocks are shown on both sides of each end of the selection, for keys that move by lines and by screens.
const beside = 40

// What is shown until the page knows which blocks are near the screen.
const atFirst: Range = { from: 0, to: 60 }

type Shown = {
  /** The blocks near the screen. */
  near: Range
  /** All blocks that are shown, in order. */
  ranges: Range[]
  decorations: DecorationSet
}

const key = new PluginKey<Shown>('blockWindow')

/** Shows the blocks of a long document that are near the screen and near the selection, and follows both. */
export const BlockWindow = Extension.create({
  name: 'blockWindow',
  addProseMirrorPlugins() {
    return [blockWindow(this.editor)]
  },
})

/** Shows the block at a position of the document, for somebody who is about to look at it. */
export function showBlockAt(view: EditorView, position: number): void {
  const index = indexAt(view.state.doc, position)
  showNear(view, { from: index - beside, to: index + beside })
}

/** Scrolls to the block with an id, if the document has such a block. */
export function scrollToBlock(view: EditorView, id: string): void {
  view.state.doc.descendants((node, position) => {
    if (node.attrs['id'] === id) showBlockAt(view, position)
  })
  view.dom.querySelector(`[data-block-id="${CSS.escape(id)}"]`)?.scrollIntoView()
}

function blockWindow(editor: Editor): Plugin<Shown> {
  // The gaps keep their elements, in the order in which they stand in the document.
  const gaps: HTMLElement[] = []
  const gapAt = (number: number): HTMLElement => {
    const gap = gaps[number] ?? createGap()
    gaps[number] = gap
    return gap
  }
  const shown = (state: EditorState, near: Range): Shown => {
    const ranges = isLong(state.doc) ? rangesShown(state, near) : []
    const decorations = DecorationSet.create(state.doc, decorationsOf(state.doc, { ranges, gapAt }))
    return { near, ranges, decorations: onBlocks(decorations) }
  }
  return new Plugin<Shown>({
    key,
    state: {
      init: (_config, state) => shown(state, atFirst),
      apply(transaction, before, _oldState, state) {
        const wanted: Range | undefined = transaction.getMeta(key)
        if (wanted === undefined && !transaction.docChanged && !transaction.selectionSet) return before
        const near = wanted ?? mapped(transaction, before.near)
        return unchanged(transaction, { before, near, state }) ?? shown(state, near)
      },
    },
    props: {
      decorations: (state) => key.getState(state)?.decorations,
      attributes: (state): { [name: string]: string } => (isLong(state.doc) ? { class: 'windowed' } : {}),
    },
    view(view) {
      const windowView = new WindowView(view, {
        gapAt,
        rangesIn: (state) => key.getState(state)?.ranges ?? [],
        showNear: (near) => showNear(view, near),
      })
      editor.on('beforeTransaction', ({ transaction }) => {
        if (isChangeOrigin(transaction)) windowView.note()
      })
      return windowView
    },
  })
}

function showNear(view: EditorView, near: Range): void {
  if (!isLong(view.state.doc)) return
  readSelection(view)
  view.dispatch(view.state.tr.setMeta(key, near).setMeta('addToHistory', false))
}

function isLong(doc: DocumentNode): boolean {
  return doc.childCount > mostBlocks
}

// The blocks that are shown: near the screen, beside both ends of the selection, and the ends of the document. Keys of
// the browser lead to these ends.
function rangesShown({ doc, selection }: EditorState, near: Range): Range[] {
  const ends = [selection.anchor, selection.head].map((position): Range => {
    const index = indexAt(doc, position)
    return { from: index - beside, to: index + beside }
  })
  const { childCount } = doc
  return joined([near, ...ends, { from: 0, to: 1 }, { from: childCount - 1, to: childCount }], childCount)
}

// What was shown before, if the same blocks are still shown. So a letter costs no look at the whole document.
function unchanged(
  transaction: Transaction,
  { before, near, state }: { before: Shown; near: Range; state: EditorState },
): Shown | null {
  const { doc } = state
  if (!isLong(doc) || doc.childCount !== transaction.before.childCount) return null
  const isSame = JSON.stringify(rangesShown(state, near)) === JSON.stringify(before.ranges)
  if (!isSame) return null
  if (!transaction.docChanged) return { ...before, near }
  let isWhole = true
  const onRemove = () => {
    isWhole = false
  }
  const decorations = onBlocks(before.decorations.map(transaction.mapping, doc, { onRemove }))
  return isWhole ? { near, ranges: before.ranges, decorations } : null
}

// These decorations are around blocks, and not within them. ProseMirror would look for them in each block.
function onBlocks(decorations: DecorationSet): DecorationSet {
  decorations.forChild = () => DecorationSet.empty
  return decorations
}

// Where the blocks near the screen are after a change. The window view corrects it when many blocks came or went.
function mapped({ before, doc, mapping }: Transaction, near: Range): Range {
  if (before.childCount === doc.childCount) return near
  // All blocks were shown a moment ago, and the user may look at any of them.
  if (!isLong(before)) return { from: 0, to: before.childCount }
  const from = indexAt(doc, mapping.map(startOf(before, near.from)))
  const to = indexAt(doc, mapping.map(startOf(before, near.to)))
  return { from, to: Math.min(to, from + mostBlocks) }
}

type Parts = { ranges: Range[]; gapAt: (number: number) => HTMLElement }

function decorationsOf(doc: DocumentNode, { ranges, gapAt }: Parts): Decoration[] {
  const gaps = gapsBetween(ranges, doc.childCount)
  const starts = new Map(gaps.map(({ from }, number) => [from, number]))
  const made: Decoration[] = []
  doc.forEach((node, position, index) => {
    const number = starts.get(index)
    if (number !== undefined) {
      const widget = { key: `gap ${number}`, side: 0, ignoreSelection: true }
      made.push(Decoration.widget(position, () => gapAt(number), widget))
    }
    if (ranges.some(({ from, to }) => index >= from && index < to))
      made.push(Decoration.node(position, position + node.nodeSize, { class: 'near' }))
  })
  return made
}
