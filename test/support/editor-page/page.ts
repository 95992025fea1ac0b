import { HocuspocusProvider } from '@hocuspocus/provider'
import { Editor } from '@tiptap/core'
import { Collaboration } from '@tiptap/extension-collaboration'
import { Doc } from 'yjs'
import { bodyExtensions } from './body-extensions.ts'

/*
 * The script of a page with a stock Tiptap editor. `test/support/editor-page/open.ts` bundles it and serves the page.
 */

// The tests are compiled without the types of a browser.
declare const document: { querySelector(selector: string): never }

/** The address of a collaboration process, the id of a document, and a bearer token. */
type Address = { url: string; name: string; token: string }

function openEditor({ url, name, token }: Address): void {
  const ydoc = new Doc()
  const messages: unknown[] = []
  const provider = new HocuspocusProvider({
    ...{ url, name, token, document: ydoc, delay: 100, minDelay: 100, maxDelay: 500 },
    onStateless: ({ payload }) => void messages.push(JSON.parse(payload)),
  })
  const extensions = [...bodyExtensions(), Collaboration.configure({ document: ydoc })]
  const editor = new Editor({ element: document.querySelector('#editor'), extensions })
  Object.assign(globalThis, { editor, provider, messages })
}

Object.assign(globalThis, { openEditor })
