import { Editor } from '@tiptap/core'
import type { EditorState, Plugin, PluginView } from '@tiptap/pm/state'
import type { EditorView } from '@tiptap/pm/view'
import type { Doc } from 'yjs'
import { BlockIds } from '../../api/pages/editor/browser/block-ids.ts'
import { bodyExtensions } from '../../api/pages/editor/browser/body-extensions.ts'
import { Lists } from '../../api/pages/editor/browser/lists.ts'
import { LiveBinding } from '../../api/pages/editor/browser/live-binding.ts'
import type { PageData } from '../../api/pages/editor/browser/page-data.ts'

/** The editor of the service on a live document, without a page: everything that changes the document, and no DOM. */
export function headlessEditor(live: Doc): Editor {
  const editor = new Editor({
    element: null,
    content: { type: 'doc', content: [{ type: 'paragraph' }] },
    extensions: [
      ...bodyExtensions({ documentId: 'doc' } as PageData),
      BlockIds,
      Lists,
      LiveBinding.configure({ document: live }),
    ],
  })
  // The selection of details asks the page which of them are open.
  const plugins = editor.extensionManager.plugins.filter((plugin) => !keyOf(plugin).startsWith('detailsSelection'))
  let state = editor.state.reconfigure({ plugins })
  let views: PluginView[] = []
  const view = {
    get state() {
      return state
    },
    updateState(next: EditorState) {
      const before = state
      state = next
      for (const one of views) one.update?.(view as unknown as EditorView, before)
    },
    dispatch: (transaction: never) => editor['dispatchTransaction'](transaction),
    hasFocus: () => false,
    dom: new EventTarget(),
    composing: false,
    editable: true,
    isDestroyed: false,
  }
  Object.assign(editor, { editorView: view, editorState: state })
  const bound = plugins.filter((plugin) => keyOf(plugin).startsWith('y-sync'))
  views = bound.map(({ spec }) => spec.view?.(view as unknown as EditorView) ?? {})
  return editor
}

function keyOf(plugin: Plugin): string {
  return (plugin as unknown as { key: string }).key
}
