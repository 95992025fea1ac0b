import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import { eventSequencer } from '../../../../workers/events.ts'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { root } from '../../../support/processes.ts'
import { startTestService } from '../../../support/service.ts'
import { t } from '../../../support/tap.ts'
import { startWorkers } from '../../../support/workers.ts'

t.test('a page of another site uses the client in a browser', { skip: noChromium }, async (t) => {
  const service = await startTestService(t)
  await startWorkers(t, service, [eventSequencer])
  const { token } = await service.signUp()
  const site = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<title>Zoo</title>'))
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.teardown(() => site.close())
  const browser = await startChromium(t)
  const page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`)
  await page.addScriptTag({ content: await bundle() })
  const result = await page.evaluate(work, { origin: service.origin, token })
  t.match(result, { text: 'They drink two hundred litres.', title: 'Zebras', file: 'name', code: 'document_not_found' })
  t.match(result.requestId, /^req_/)
})

type Program = typeof import('../../../../shared/client/client.ts')

// Runs in the page.
async function work({ origin, token }: { origin: string; token: string }) {
  const { KnowledgeBase } = (globalThis as unknown as { program: Program }).program
  const kb = new KnowledgeBase({ origin, token })
  const content = { format: 'markdown' as const, content: 'They drink a hundred litres.' }
  const { data: made, requestId } = await kb.api.POST('/documents', { body: { title: 'Elephants', content } })
  const { id } = made
  await kb.edit(id, ({ text }) => ({
    type: 'paragraph',
    content: [{ type: 'text', text: text.replace('a hundred', 'two hundred') }],
  }))
  const { data: blocks } = await kb.api.GET('/documents/{id}/blocks', { params: { path: { id } } })
  const attachment = await kb.upload({ documentId: id, file: new File(['name'], 'a.csv', { type: 'text/csv' }) })
  const file = await new Response((await kb.download(attachment.id)).data).text()
  let title = ''
  const add = () => kb.api.POST('/documents', { body: { title: 'Zebras' } })
  for await (const event of kb.events({ onOpen: () => void add() })) {
    if (event.type !== 'document.created') continue
    title = event.document.title
    break
  }
  const missing = kb.api.GET('/documents/{id}', { params: { path: { id: 'doc_none' } } })
  const code = await missing.then(
    () => '',
    (error) => error.code as string,
  )
  return { text: blocks[0]?.text, title, file, code, requestId }
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'shared/client/client.ts')],
    bundle: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'program',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}
