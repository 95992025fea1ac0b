import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import type { BlockNode, BodyNode } from '../../shared/body/document.ts'
import { normaliseDocument } from '../../shared/body/normalise.ts'
import { freePort } from '../../shared/start/processes.ts'
import { type CollabProcess, startCollab } from './collab.ts'
import { startTestService, type TestService } from './service.ts'
import type { Teardown } from './site.ts'
import { signedInVisitor } from './visitor.ts'

/** A service with live editing, as people in browsers use both. */
export type WrittenService = TestService & {
  /** The collab process that runs now. */
  collab: () => CollabProcess
  /** Starts another collab process at the same address, after the process before has ended. */
  restartCollab: () => Promise<void>
}

/** Starts a service and a collab process, whose editors are pages of the service. */
export async function startWrittenService(t: Teardown, env: Record<string, string> = {}): Promise<WrittenService> {
  const port = String(await freePort({ host: '127.0.0.1' }))
  const service = await startTestService(t, { COLLAB_URL: `ws://127.0.0.1:${port}/collab`, ...env })
  const { DATABASE_URL, DATA_DIR, SESSION_SECRET } = service.config
  const settings = {
    ...{ DATABASE_URL, DATA_DIR, SESSION_SECRET, COLLAB_PORT: port, LOG_LEVEL: 'warn' },
    ...{ CORS_ALLOWED_ORIGINS: service.origin, SSE_HEARTBEAT_SECONDS: '1' },
  }
  let collab = await startCollab(settings)
  t.teardown(() => collab.stop())
  return {
    ...service,
    collab: () => collab,
    async restartCollab() {
      collab = await startCollab(settings)
    },
  }
}

/** A signed-in person's browser. `incidents` has errors, complaints of the policy, and requests to other hosts. */
export type Reader = { context: BrowserContext; incidents: string[] }

/** Opens a browser in which a user is signed in. */
export async function signedInBrowser(
  browser: Browser,
  who: { service: TestService; userId: string; options?: BrowserContextOptions },
): Promise<Reader> {
  const { service, userId, options } = who
  const incidents: string[] = []
  const context = await browser.newContext(options)
  context.setDefaultTimeout(0)
  const { cookies } = await signedInVisitor(service, { userId })
  const { hostname } = new URL(service.origin)
  await context.addCookies([...cookies].map(([name, value]) => ({ name, value, domain: hostname, path: '/' })))
  await context.exposeFunction('noteIncident', (what: string) => incidents.push(what))
  await context.addInitScript(`
    addEventListener('securitypolicyviolation', (event) =>
      noteIncident(['policy', event.effectiveDirective, event.blockedURI, event.lineNumber, event.columnNumber].join(' ')))`)
  context.on('weberror', (error) => incidents.push(`error ${error.error().message}`))
  context.on('request', (request) => {
    const address = new URL(request.url())
    // A script of the page has made what has the scheme `blob:`.
    if (address.protocol !== 'blob:' && address.hostname !== hostname) incidents.push(`request ${request.url()}`)
  })
  return { context, incidents }
}

/** The page of a document with its editor. */
export class WrittenPage {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  /** Opens the page, and waits until its editor shows the document. */
  static async open({ context }: Reader, address: { origin: string; id: string }): Promise<WrittenPage> {
    const page = await context.newPage()
    await page.goto(`${address.origin}/d/${address.id}`)
    await page.locator('.ProseMirror').waitFor()
    return new WrittenPage(page)
  }

  /** The text of the document. */
  get text() {
    return this.page.getByRole('textbox', { name: 'Text of the document' })
  }

  /** What the page says about saving. */
  get state() {
    return this.page.getByRole('status')
  }

  /** The blocks that the editor has, as the editor has them. */
  json(): Promise<BodyNode[]> {
    return this.page.evaluate('document.querySelector(".ProseMirror").editor.getJSON().content')
  }

  /** The blocks that the editor has, in normal form. */
  async blocks(): Promise<BlockNode[]> {
    return normaliseDocument({ type: 'doc', content: await this.json() }, { from: 'json' }).result.content
  }

  /** Sets the caret into the text of a top-level block, behind so many characters, or at its end. */
  async place({ block, offset }: { block: number; offset?: number }): Promise<void> {
    await this.page.evaluate(selection(block, { from: offset ?? 'end', to: offset ?? 'end' }))
  }

  /** Selects the text of a top-level block. */
  async select({ block }: { block: number }): Promise<void> {
    await this.page.evaluate(selection(block, { from: 0, to: 'end' }))
  }

  /** Sets the caret as `place` does, and types. */
  async type(place: { block: number; offset?: number }, text: string): Promise<void> {
    await this.place(place)
    await this.page.keyboard.type(text)
  }
}

// Sets the selection within the text of a top-level block. The text begins one position behind the block.
function selection(block: number, { from, to }: { from: number | 'end'; to: number | 'end' }): string {
  return `{
    const { editor } = document.querySelector('.ProseMirror')
    const { content } = editor.state.doc
    const begin = 1 + content.content.slice(0, ${block}).reduce((sum, node) => sum + node.nodeSize, 0)
    const end = content.child(${block}).content.size
    editor.commands.setTextSelection({ from: begin + ${from}, to: begin + ${to} })
    editor.view.focus()
  }`
}
