import { type Editor, Extension, type JSONContent } from '@tiptap/core'
import { Plugin } from '@tiptap/pm/state'
import { insertAt, insertLines, KeptPlace } from './insertion.ts'
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
            // The paste comes a moment later. A paste from the menu of the mouse comes later, and is not plain.
            setTimeout(() => {
              isPlain = false
            }, momentMs)
            return false
          },
          handlePaste(view, { clipboardData }) {
            const text = clipboardData?.getData('text/plain') ?? ''
            const isWantedPlain = isPlain
            isPlain = false
            const isOther =
              isWantedPlain || clipboardData?.getData('text/html') || view.state.selection.$from.parent.type.spec.code
            if (isOther || !looksLikeMarkdown(text)) return false
            void pasteMarkdown(editor, { page: options.page, text })
            return true
          },
        },
      }),
    ]
  },
})

// The milliseconds between the keys of a paste and the paste, at most.
const momentMs = 500

// The milliseconds in which the service answers, or the text is inserted as it is.
const patienceMs = 10_000

// While the service is out of reach, the text is inserted as it is.
async function pasteMarkdown(editor: Editor, { page, text }: { page: PageData; text: string }): Promise<void> {
  editor.commands.deleteSelection()
  const place = new KeptPlace(editor, editor.state.selection.to)
  addEventListener('beforeunload', keepPage)
  try {
    const [path, body, signal] = [
      '/editor/markdown',
      JSON.stringify({ markdown: text }),
      AbortSignal.timeout(patienceMs),
    ]
    const { blocks } = await askService<{ blocks: JSONContent[] }>(page, { path, body, signal })
    const [only] = blocks
    const isInline = blocks.length === 1 && only?.type === 'paragraph'
    insertAt(editor, place.position, isInline ? (only.content ?? []) : blocks)
  } catch {
    insertLines(editor, place.position, text)
  } finally {
    place.forget()
    removeEventListener('beforeunload', keepPage)
  }
}

// The browser asks before it closes a page with a text that is not in the document yet.
function keepPage(event: BeforeUnloadEvent): void {
  event.preventDefault()
}
