import { type Editor, Extension, type JSONContent } from '@tiptap/core'
import { Plugin } from '@tiptap/pm/state'
import { insertAt, KeptPlace, leaveSelection } from './insertion.ts'
import type { PageData } from './page-data.ts'
import { askService, ServiceRefusal } from './service.ts'

/** What uploads need: the page, and a place for messages to the user. */
export type UploadOptions = { page: PageData; warn: (words: string) => void }

/**
 * Puts pictures into the document that are pasted or dropped, and links to other files. The service stores the files.
 * `chooseFiles` does the same for files that the user chooses.
 */
export const Uploads = Extension.create<UploadOptions>({
  name: 'uploads',
  addProseMirrorPlugins() {
    const { editor, options } = this
    return [
      new Plugin({
        props: {
          handlePaste(_view, event, slice) {
            // A copy of a text from an office program brings a picture of the text, too.
            const files = slice.size > 0 ? [] : [...(event.clipboardData?.files ?? [])]
            return insertFiles(editor, { files, at: null, ...options })
          },
          handleDrop(view, event, _slice, moved) {
            const files = moved ? [] : [...(event.dataTransfer?.files ?? [])]
            const at = view.posAtCoords({ left: event.clientX, top: event.clientY })?.pos ?? null
            return insertFiles(editor, { files, at, ...options })
          },
        },
      }),
    ]
  },
})

/** Lets the user choose files, and puts them into the document at the selection. */
export function chooseFiles(editor: Editor): void {
  const field = document.createElement('input')
  field.type = 'file'
  field.multiple = true
  const { options } = editor.extensionManager.extensions.find(({ name }) => name === 'uploads') ?? {}
  field.addEventListener('change', () => {
    insertFiles(editor, { files: [...(field.files ?? [])], at: null, ...(options as UploadOptions) })
  })
  field.click()
}

type Insertion = UploadOptions & { files: File[]; at: number | null }

function insertFiles(editor: Editor, { files, at, page, warn }: Insertion): boolean {
  if (files.length === 0 || !editor.isEditable) return false
  if (at !== null) editor.commands.setTextSelection(at)
  // People write on while the service stores the files.
  const place = new KeptPlace(editor, leaveSelection(editor))
  void (async () => {
    for (const file of files) {
      try {
        const path = `/d/${page.documentId}/attachments?name=${encodeURIComponent(file.name)}`
        const type = file.type || 'application/octet-stream'
        const { attachment_id } = await askService<{ attachment_id: string }>(page, { path, body: file, type })
        if (!editor.isEditable) throw new ServiceRefusal(403)
        place.moveTo(insertAt(editor, place.position, [contentFor(file, attachment_id)]))
      } catch (error) {
        warn(`“${file.name}” was not added: ${refusalWords(error)}`)
      }
    }
    place.forget()
  })()
  return true
}

function contentFor(file: File, attachmentId: string): JSONContent {
  const href = `/api/v1/attachments/${attachmentId}`
  if (pictures.includes(file.type)) return { type: 'image', attrs: { attachmentId, src: href, alt: file.name } }
  return { type: 'text', text: file.name, marks: [{ type: 'link', attrs: { href } }] }
}

const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

function refusalWords(error: unknown): string {
  if (!(error instanceof ServiceRefusal)) return 'the service is out of reach.'
  return refusals[error.status] ?? 'the service refused it.'
}

const refusals: { [status: number]: string } = {
  400: 'the file is empty.',
  401: 'you are signed out.',
  403: 'you may not change this document.',
  404: 'the document is gone.',
  409: 'there is no room for more files.',
  413: 'the file is too large.',
  415: 'files of this type are not accepted.',
  429: 'too many files at once. Wait a minute.',
}
