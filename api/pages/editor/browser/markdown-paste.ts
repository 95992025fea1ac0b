import { type Editor, Extension, type JSONContent } from '@tiptap/core'
import { Plugin } from '@tiptap/pm/state'
import { looksLikeMarkdown } from './markdown-signs.ts'
import type { PageData } from './page-data.ts'
import { askService } from './service.ts'

/**
 * Turns pasted Markdown into blocks. The service does it, by the rules of its API. HTML from the clipboard is read by
 * ProseMirror. Pasting with the Shift key, and within code, inserts the text as it is.
 */
export const MarkdownPaste = Extension.create<{ page: PageData }>({
  name: 'markdownPaste',
  addProseMirrorPlugins() {
    const { editor, options } = this
    let isPlain = false
    return [
      new Plugin({
        props: {
          handleKeyDown(_view, event) {
            isPlain = event.shiftKey && event.key.toLowerCase() === 'v'
            return false
          },
          handlePaste(view, { clipboardData }) {
            const text = clipboardData?.getData('text/plain') ?? ''
            const isOther =
              isPlain || clipboardData?.getData('text/html') || view.state.selection.$from.parent.type.spec.code
            if (isOther || !looksLikeMarkdown(text)) return false
            void pasteMarkdown(editor, { page: options.page, text })
            return true
          },
        },
      }),
    ]
  },
})

// While the service is out of reach, the text is inserted as it is.
async function pasteMarkdown(editor: Editor, { page, text }: { page: PageData; text: string }): Promise<void> {
  try {
    const body = JSON.stringify({ markdown: text })
    const { blocks } = await askService<{ blocks: JSONContent[] }>(page, { path: '/editor/markdown', body })
    const [only] = blocks
    const isInline = blocks.length === 1 && only?.type === 'paragraph'
    editor.commands.insertContent(isInline ? (only.content ?? []) : blocks)
  } catch {
    editor.view.pasteText(text)
  }
}
