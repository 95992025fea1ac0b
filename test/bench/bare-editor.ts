import { build } from 'esbuild'
import type { BodyNode } from '../../shared/body/document.ts'
import { servePage } from '../support/editor-page/serve.ts'
import { root } from '../support/processes.ts'
import type { Teardown } from '../support/site.ts'

/** Serves a page of Tiptap's StarterKit with these blocks until the measurement ends. Returns its address. */
export async function serveBareEditor(t: Teardown, content: BodyNode[]): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: script, resolveDir: root },
    ...{ bundle: true, write: false, minify: true, format: 'esm', platform: 'browser', logLevel: 'error' },
  })
  const bundle = outputFiles[0]?.text ?? ''
  const json = JSON.stringify({ type: 'doc', content }).replaceAll('<', '\\u003c')
  const page = `<!doctype html><meta charset=utf-8><title>Editor</title><div id=editor></div>
    <script type="application/json" id=blocks>${json}</script><script type=module src=page.js></script>`
  return servePage(t, { page, script: bundle })
}

const script = `
  import { Editor } from '@tiptap/core'
  import { StarterKit } from '@tiptap/starter-kit'
  const content = JSON.parse(document.querySelector('#blocks').textContent)
  new Editor({ element: document.querySelector('#editor'), extensions: [StarterKit], content })`
