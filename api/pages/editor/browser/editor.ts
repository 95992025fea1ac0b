import type { HocuspocusProvider } from '@hocuspocus/provider'
import { Editor } from '@tiptap/core'
import { CollaborationCaret } from '@tiptap/extension-collaboration-caret'
import { Dropcursor, Gapcursor, Placeholder } from '@tiptap/extensions'
import { BlockIds } from './block-ids.ts'
import { BlockWindow } from './block-window.ts'
import { bodyExtensions } from './body-extensions.ts'
import { CodeColours } from './code-colours.ts'
import { Diagrams } from './diagrams.ts'
import { KeptCaret } from './kept-caret.ts'
import { LineEnds } from './line-ends.ts'
import { Links } from './links.ts'
import { Lists } from './lists.ts'
import { LiveBinding } from './live-binding.ts'
import { MarkdownPaste } from './markdown-paste.ts'
import { Mentions } from './mentions.ts'
import { BlockHandle, BlockMoves } from './moves.ts'
import type { PageData } from './page-data.ts'
import { PastedHtml } from './pasted-html.ts'
import { SlashMenu } from './slash-menu.ts'
import { SourceEditing } from './source-editing.ts'
import type { Warn } from './status-line.ts'
import { Uploads } from './uploads.ts'

/**
 * Makes the editor of a live document. `provider` is connected to live editing, and brings the cursors and the names of
 * others. Undo takes back what this editor has done, and nothing of others.
 */
export function createEditor(options: {
  element: HTMLElement
  provider: HocuspocusProvider
  page: PageData
  editable: boolean
  warn: Warn
}): Editor {
  const { element, provider, page, editable, warn } = options
  const editor: Editor = new Editor({
    element,
    editable,
    // The policy of the page forbids styles in the page. The same rules stand in its stylesheet.
    injectCSS: false,
    extensions: [
      ...bodyExtensions(page),
      BlockIds,
      BlockWindow,
      Links.configure({ documentId: page.documentId, warn }),
      Lists,
      BlockMoves,
      BlockHandle,
      SlashMenu,
      Mentions.configure({ page }),
      SourceEditing.configure({ warn }),
      CodeColours,
      Diagrams,
      LineEnds,
      // Before uploads, which take the picture that comes as a file, so that only then pictures are named as left out.
      PastedHtml.configure({ warn }),
      Uploads.configure({ page, warn }),
      MarkdownPaste.configure({ page }),
      Dropcursor.configure({ color: false, class: 'drop-cursor' }),
      Gapcursor,
      Placeholder.configure({ placeholder: 'Write, or type / for blocks' }),
      LiveBinding.configure({ document: provider.document, provider }),
      KeptCaret.configure({ provider }),
      CollaborationCaret.configure({ provider }),
    ],
    editorProps: {
      attributes: {
        class: 'prose',
        role: 'textbox',
        'aria-multiline': 'true',
        'aria-label': 'Text of the document',
      },
    },
  })
  const sayReadOnly = () => {
    const [{ dom }, isReadOnly] = [editor.view, String(!editor.isEditable)]
    if (dom.getAttribute('aria-readonly') !== isReadOnly) dom.setAttribute('aria-readonly', isReadOnly)
  }
  editor.on('update', sayReadOnly)
  sayReadOnly()
  return editor
}
