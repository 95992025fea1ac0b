import type { HocuspocusProvider } from '@hocuspocus/provider'
import { Extension } from '@tiptap/core'
import { Plugin, TextSelection, type Transaction } from '@tiptap/pm/state'
import {
  type ProsemirrorBinding,
  relativePositionToAbsolutePosition,
  ySyncPluginKey,
  yUndoPluginKey,
} from '@tiptap/y-tiptap'
import { type AbstractType, createAbsolutePositionFromRelativePosition, type RelativePosition } from 'yjs'

/**
 * Keeps the caret between the same two letters while others write before it. The binding of Yjs knows the place, but
 * puts the caret at its old offset when the text of the block has changed. That guess is only right for a block that
 * was put in the place of another block.
 */
export const KeptCaret = Extension.create<{ provider: HocuspocusProvider }>({
  name: 'keptCaret',
  addProseMirrorPlugins() {
    return [keptCaret(this.options.provider)]
  },
})

// The binding has no selection outside of a transaction, which its types do not say.
type Binding = Omit<ProsemirrorBinding, 'beforeTransactionSelection'> & {
  beforeTransactionSelection: { anchor: RelativePosition | null; head: RelativePosition | null } | null
}
type Origin = { isChangeOrigin?: boolean }

function keptCaret(provider: HocuspocusProvider): Plugin {
  return new Plugin({
    appendTransaction(transactions, _before, state) {
      const change = transactions.findLast((one) => originOf(one)?.isChangeOrigin === true)
      if (change === undefined || !(state.selection instanceof TextSelection)) return null
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
      const { undoManager } = yUndoPluginKey.getState(view.state) ?? {}
      const { binding } = ySyncPluginKey.getState(view.state) as { binding: Binding }
      // After an undo the binding would give an old place to the caret at the next change by others.
      const forget = () => {
        binding.beforeTransactionSelection = null
      }
      // The browser tells of a click or a key a moment later. A change by others in between would undo the new place.
      const { domObserver } = view as unknown as { domObserver: { flush: () => void } }
      const readSelection = () => domObserver.flush()
      undoManager?.on('stack-item-popped', forget)
      provider.on('message', readSelection)
      return {
        destroy() {
          undoManager?.off('stack-item-popped', forget)
          provider.off('message', readSelection)
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
  return relativePositionToAbsolutePosition(binding.doc, binding.type, relative, binding.mapping)
}

function isGone(type: AbstractType<unknown>): boolean {
  const item = type._item
  return item !== null && (item.deleted || isGone(item.parent as AbstractType<unknown>))
}
