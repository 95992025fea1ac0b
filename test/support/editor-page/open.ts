import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import type { BodyNode } from '../../../shared/body/document.ts'
import { root } from '../processes.ts'
import type { Teardown } from '../site.ts'
import { servePage } from './serve.ts'

/** A page with a stock Tiptap editor that is connected to one document. */
export type EditorPage = {
  page: Page
  /** The body as the editor has it. */
  json: () => Promise<BodyNode[]>
  /** Sets the caret into the text of the top-level block at a position, behind so many characters, and types. */
  type: (place: { block: number; offset?: number }, text: string) => Promise<void>
  /** Selects the text of the top-level block at a position. */
  select: (place: { block: number }) => Promise<void>
  /** The stateless messages so far. */
  messages: () => Promise<{ type: string; [member: string]: unknown }[]>
}

/**
 * Opens pages with a stock editor in a browser, by the code that the guide shows. `incidents` has errors of pages, and
 * requests to other hosts.
 */
export async function editorPages(t: Teardown, browser: Browser) {
  const incidents: string[] = []
  const origin = await serve(t)

  /** Opens a page with an editor of the document `name`, and waits until it shows the document. */
  async function open(address: { url: string; name: string; token: string }): Promise<EditorPage> {
    const context = await browser.newContext()
    context.setDefaultTimeout(0)
    const page = await context.newPage()
    page.on('pageerror', (error) => incidents.push(`error ${error.message}`))
    page.on('console', (message) => message.type() === 'error' && incidents.push(`console ${message.text()}`))
    page.on('request', (request) => {
      if (new URL(request.url()).hostname !== '127.0.0.1') incidents.push(`request ${request.url()}`)
    })
    await page.goto(origin)
    await page.evaluate(`openEditor(${JSON.stringify(address)})`)
    await page.waitForFunction('provider.synced')
    return {
      page,
      json: () => page.evaluate('editor.getJSON().content'),
      messages: () => page.evaluate('messages'),
      async type({ block, offset }, text) {
        await page.evaluate(selection(block, { from: offset ?? 'end', to: offset ?? 'end' }))
        await page.keyboard.type(text)
      },
      select: ({ block }) => page.evaluate(selection(block, { from: 0, to: 'end' })),
    }
  }

  return { open, incidents }
}

// Sets the selection within the text of a top-level block. The text begins one position behind the block.
function selection(block: number, { from, to }: { from: number | 'end'; to: number | 'end' }): string {
  return `{
    const { content } = editor.state.doc
    const begin = 1 + content.content.slice(0, ${block}).reduce((sum, node) => sum + node.nodeSize, 0)
    const end = content.child(${block}).content.size
    editor.commands.setTextSelection({ from: begin + ${from}, to: begin + ${to} })
    editor.view.focus()
  }`
}

async function serve(t: Teardown): Promise<string> {
  const bundled = await build({
    stdin: { contents: script(), resolveDir: join(root, 'test/support/editor-page') },
    ...{ bundle: true, write: false, format: 'iife', platform: 'browser', logLevel: 'error' },
  })
  const bundle = bundled.outputFiles[0]?.text ?? ''
  const page = '<!doctype html><title>Editor</title><div id=editor></div><script src=page.js></script>'
  return servePage(t, { page, script: bundle })
}

// The code that the guide shows, as a function of the page. The guide connects the editor first, then says what its
// extensions are.
function script(): string {
  const guide = readFileSync(join(root, 'api/guide/collaboration.md'), 'utf8')
  const lines = [...guide.matchAll(/^```js\n(.*?)^```$/gms)].reverse().flatMap(([, code = '']) => code.split('\n'))
  const isImport = (line: string) => line.startsWith('import ')
  return `
    import { blockTypes, furtherNodesAndMarks } from './body-extensions.ts'
    ${lines.filter(isImport).join('\n')}
    globalThis.openEditor = ({ url: collaborationUrl, name: documentId, token }) => {
      const [messages, element] = [[], document.querySelector('#editor')]
      const showRefusal = (reason) => messages.push({ type: 'refused', reason })
      const showSaveState = (message) => messages.push(message)
      ${lines.filter((line) => !isImport(line)).join('\n')}
      Object.assign(globalThis, { provider, editor, messages })
    }`
}
