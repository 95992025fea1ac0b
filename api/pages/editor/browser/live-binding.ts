import { Collaboration } from '@tiptap/extension-collaboration'
import { Slice } from '@tiptap/pm/model'
import type { Plugin, Transaction } from '@tiptap/pm/state'
import type { EditorView } from '@tiptap/pm/view'
import { type ProsemirrorBinding, ySyncPluginKey } from '@tiptap/y-tiptap'
import { stepTo } from './changed-step.ts'

/**
 * Tiptap's Collaboration, which binds the editor to the live document, without work that grows with the document. The
 * binding compares the whole document after each event, and for each change by others it makes all nodes anew and
 * replaces the whole document. Here, only the nodes that have changed are made and replaced. So carets, colours and
 * other decorations stay where they are while others write.
 */
export const LiveBinding = Collaboration.extend({
  addProseMirrorPlugins() {
    const plugins = this.parent?.() ?? []
    for (const plugin of plugins) if (plugin.spec.key === ySyncPluginKey) bindSparingly(plugin)
    return plugins
  },
})

// What the types of the binding do not say.
type Binding = Omit<ProsemirrorBinding, 'beforeTransactionSelection'> & { beforeTransactionSelection: unknown }

function bindSparingly(plugin: Plugin): void {
  const { view: open } = plugin.spec
  plugin.spec.view = (view) => {
    const stock = open?.call(plugin, view)
    const { binding } = ySyncPluginKey.getState(view.state) as { binding: Binding }
    // The binding forgets the nodes that have changed before it forgets all nodes.
    binding.mapping.clear = () => {}
    Object.defineProperty(binding, '_tr', { get: () => changeByOthers(view) })
    return {
      ...stock,
      update(...event) {
        if (binding.mapping.get(binding.type) === view.state.doc) return
        // The binding notes where the selection was, and again where the selection is. Only the second is used here.
        binding.beforeTransactionSelection ??= {}
        stock?.update?.(...event)
      },
    }
  }
}

// A transaction that replaces only what differs, when the binding replaces the whole document.
function changeByOthers(view: EditorView): Transaction {
  const change = view.state.tr.setMeta('addToHistory', false)
  const replace = change.replace.bind(change)
  change.replace = (from, to, slice = Slice.empty) => {
    if (slice.content.eq(change.doc.content)) return change
    const step = stepTo(slice.content, { parent: change.doc, start: 0 })
    return step === null ? replace(from, to, slice) : change.step(step)
  }
  return change
}
