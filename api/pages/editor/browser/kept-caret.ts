import type { HocuspocusProvider } from '@hocuspocus/provider'
import { Extension } from '@tiptap/core'
import { Plugin, TextSelection, type Transaction } from '@tiptap/pm/state'
import type { EditorView } from '@tiptap/pm/view'
import {
  type ProsemirrorBinding,
  relativePositionToAbsolutePosition,
  yCursorPluginKey,
  ySyncPluginKey,
} from '@tiptap/y-tiptap'
import { type AbstractType, createAbsolutePositionFromRelativePosition, type RelativePosition } from 'yjs'

/**
 * Keeps the caret between the same two letters while others write before it. The binding of Yjs knows the place, but
 * puts the caret at its old offset when the text of the block has changed. That guess is only right for a block that
 * was put in the place of another block. A place that the user has just chosen is kept, too.
 */
export const KeptCaret = Extension.create<{ provider: HocuspocusProvider }>({
  name: 'keptCaret',
  addProseMirrorPlugins() {
    return [keptCaret(this.options.provider)]
  },
  // The cursors of others are shown by a timer, with the selection that is known then.
  dispatchTransaction({ transaction, next }) {
    if (transaction.getMeta(yCursorPluginKey) !== undefined) {
      const { view } = this.editor
      readSelection(view)
      const { doc, selection } = view.state
      if (doc === transaction.before && !selection.eq(transaction.selection)) transaction.setSelection(selection)
    }
    next(transaction)
  },
})

/**
 * Reads the selection of the page. The browser tells of a click or a key a moment later, and whatever changes the page
 * in between would undo the new place.
 */
export function readSelection(view: EditorView): void {
  const { domObserver } = view as unknown as { domObserver: { flush: () => void } }
  domObserver.flush()
}

// The binding has no selection outside of a transaction, which its types do not say.
type Binding = Omit<ProsemirrorBinding, 'beforeTransactionSelection'> & {
  beforeTransactionSelection: { anchor: RelativePosition | null; head: RelativePosition | null } | null
}
type Origin = { isChangeOrigin?: boolean }

function keptCaret(provider: HocuspocusProvider): Plugin {
  return new Plugin({
    props: {
      handleDOMEvents: {
        // A key may ask for something that is done to the selection of the key before.
        keydown(view, { isComposing }) {
          if (!isComposing) readSelection(view)
          return false
        },
      },
    },
    appendTransaction(transactions, _before, state) {
      const change = transactions.findLast((one) => originOf(one)?.isChangeOrigin === true)
      if (!change?.docChanged || !(state.selection instanceof TextSelection)) return null
      const { binding } = ySyncPluginKey.getState(state) as { binding: Binding }
      const { anchor, head } = binding.beforeTransactionSelection ?? {}
      const place = { anchor: placeOf(binding, anchor), head: placeOf(binding, head) }
      const isKnown = place.anchor !== null && place.head !== null
      if (!isKnown || (state.selection.anchor === place.anchor && state.selection.head === place.head)) return null
      const [$anchor, $head] = [state.doc.resolve(place.anchor ?? 0), state.doc.resolve(place.head ?? 0)]
      if (!$anchor.parent.inlineContent || !$head.parent.inlineContent) return null
      // The change and the place of the caret are one event for the binding.
      return state.tr.setSelection(new TextSelection($anchor, $head)).setMeta(ySyncPluginKey, originOf(change))
    },
    view(view) {
      const read = () => readSelection(view)
      provider.on('message', read)
      return {
        destroy() {
          provider.off('message', read)
        },
      }
    },
  })
}

function originOf(transaction: Transaction): Origin | undefined {
  return transaction.getMeta(ySyncPluginKey)
}

// The place of a letter in the document; null when the text of the letter is gone.
function placeOf(binding: Binding, relative: RelativePosition | null | undefined): number | null {
  if (!relative) return null
  const place = createAbsolutePositionFromRelativePosition(relative, binding.doc)
  if (place === null || isGone(place.type)) return null
  const known = relativePositionToAbsolutePosition(binding.doc, binding.type, relative, binding.mapping)
  // The binding takes the start of the first block for a mistake, whatever was deleted before the caret.
  const isFirst = place.index === 0 && place.type.parent !== null && place.type.parent === binding.type.firstChild
  return known ?? (isFirst ? 1 : null)
}

function isGone(type: AbstractType<unknown>): boolean {
  const item = type._item
  return item !== null && (item.deleted || isGone(item.parent as AbstractType<unknown>))
}
