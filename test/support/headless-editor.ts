import { type AnyExtension, Editor } from '@tiptap/core'
import type {} from '@tiptap/extension-details'
import type {} from '@tiptap/extension-table'
import type { EditorState, Plugin, PluginView } from '@tiptap/pm/state'
import type { EditorView } from '@tiptap/pm/view'
import type {} from '@tiptap/starter-kit'
import type { Doc } from 'yjs'

// The types of these modules need those of a browser, which tests do not have.
const load = (file: string) => import(`../../api/pages/editor/browser/${file}.ts`)
const { bodyExtensions }: { bodyExtensions: (page: object) => AnyExtension[] } = await load('body-extensions')
const { BlockIds }: { BlockIds: AnyExtension } = await load('block-ids')
const { Lists }: { Lists: AnyExtension } = await load('lists')
const { LiveBinding }: { LiveBinding: { configure: (options: { document: Doc }) => AnyExtension } } =
  await load('live-binding')

/** The command that moves the selected blocks. */
export const { moveBlocks }: { moveBlocks: (editor: Editor, direction: 'up' | 'down') => boolean } = await load('moves')

/** The editor of the service on a live document, without a page: everything that changes the document, and no DOM. */
export function headlessEditor(live: Doc): Editor {
  const editor = new Editor({
    element: null,
    content: { type: 'doc', content: [{ type: 'paragraph' }] },
    extensions: [...bodyExtensions({ documentId: 'doc' }), BlockIds, Lists, LiveBinding.configure({ document: live })],
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
