import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { bundleScripts, pageScripts } from '../../api/pages/scripts/bundle.ts'
import { keepScripts, readKeptScripts } from '../../api/pages/scripts/kept-bundle.ts'
import { openLive } from '../../shared/body/live/live-document.ts'
import { p, text } from '../document/build.ts'
import { make, put } from '../support/documents.ts'
import { sharedService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { hiddenFields, signedInVisitor, Visitor } from '../support/visitor.ts'

// The largest first script of the editor, and of any other page, in bytes as they are sent.
const mostBytes = 250_000
const mostBytesElsewhere = 20_000

t.test('the editor comes as one small script that browsers keep for good', async (t) => {
  const { origin } = await sharedService()
  const { entries, files } = await pageScripts()
  const entry = entries['editor'] ?? ''
  const sent = await bytesOf('editor')
  t.ok(sent <= mostBytes, `${sent} bytes are sent, at most ${mostBytes} are allowed`)
  const address = `${origin}/assets/scripts/${entry}`
  const small = await fetch(address)
  t.equal(small.headers.get('content-encoding'), 'gzip')
  t.equal(small.headers.get('cache-control'), 'public, max-age=31536000, immutable')
  t.match(small.headers.get('content-type'), 'text/javascript')
  const plain = await fetch(address, { headers: { 'accept-encoding': 'identity' } })
  t.equal(plain.headers.get('content-encoding'), null)
  const bytes = Buffer.from(await plain.arrayBuffer())
  t.ok(bytes.equals(gunzipSync(files.get(entry)?.compressed ?? Buffer.alloc(0))))
  t.equal((await fetch(`${origin}/assets/scripts/editor-OTHER.js`)).status, 404)
})

t.test('the other pages load in a moment', async (t) => {
  for (const name of Object.keys((await pageScripts()).entries)) {
    const sent = await bytesOf(name)
    if (name !== 'editor') t.ok(sent <= mostBytesElsewhere, `${sent} bytes of ${name} are sent`)
  }
})

t.test('a bundle is kept for the next start, until one of its sources is another', async (t) => {
  const file = join(t.testdir({}), 'cache/bundle.json')
  t.equal(await readKeptScripts(file), null)
  const { scripts, sources } = await bundleScripts()
  t.ok(sources.includes('shared/body/nodes.ts'), 'the schema of bodies is one of its sources')
  await Promise.all([keepScripts(file, { scripts, sources }), keepScripts(file, { scripts, sources })])
  t.strictSame(await readKeptScripts(file), scripts)
  const kept = await readFile(file, 'utf8')
  for (const input of ['shared/body/nodes.ts', 'api/pages/scripts/bundle.ts', 'package-lock.json']) {
    await writeFile(file, kept.replace(new RegExp(`("${input}":")[0-9a-f]{8}`), '$100000000'))
    t.equal(await readKeptScripts(file), null, input)
  }
  await writeFile(file, kept.replace(/"api\/pages\/scripts\/bundle.ts":"[0-9a-f]+",?/, ''))
  t.equal(await readKeptScripts(file), null, 'a bundle of other pages')
  await writeFile(file, kept.slice(0, 1000))
  t.equal(await readKeptScripts(file), null, 'a broken file is no bundle')
})

t.test('the page of a document runs no script but its own, and speaks to nobody but the service', async (t) => {
  const service = await sharedService({ COLLAB_URL: 'wss://live.example.test/collab' })
  const ada = await service.signUp()
  const { id } = await make(ada, [p('Water')], { title: '<b>Rivers</b>' })
  const visitor = await signedInVisitor(service, { userId: ada.user_id })
  const { status, headers, html } = await visitor.get(`/d/${id}`)
  t.equal(status, 200)
  const policy = headers.get('content-security-policy') ?? ''
  t.match(policy, "script-src 'self';")
  t.match(policy, "connect-src 'self' wss://live.example.test")
  t.notMatch(policy, /unsafe-inline|unsafe-eval/)
  t.match(html, '&lt;b&gt;Rivers&lt;/b&gt;')
  t.match(html, '<p data-block-id="')
})

t.test('the end of a long document waits for the editor, and is there for browsers without scripts', async (t) => {
  const service = await sharedService()
  const ada = await service.signUp()
  const hostile = '</noscript><script>alert(1)</script>'
  const link = { type: 'link', attrs: { href: 'https://example.test/', title: hostile } }
  const blocks = Array.from({ length: 300 }, (_, n) => p(text(`Block ${n} ${hostile}`, link)))
  const { id } = await make(ada, blocks)
  const { html } = await (await signedInVisitor(service, { userId: ada.user_id })).get(`/d/${id}`)
  const [before = '', rest = '', ...further] = html.split(/<noscript>|<\/noscript>/)
  t.equal(further.length, 1, 'no text of the document ends the element')
  t.match(before, 'Block 199 ')
  t.notMatch(before, 'Block 200 ')
  t.match(rest, 'Block 200 ')
  t.match(rest, 'Block 299 ')
  const scripts = html.match(/<script[^>]*>/g) ?? []
  t.equal(scripts.length, 2, 'the scripts of the panels and of the editor')
  for (const script of scripts) t.match(script, / src="\/assets\/scripts\//)
})

t.test('the stored document, with which an editor begins, is for members and never behind the body', async (t) => {
  const service = await sharedService()
  const [ada, stranger] = [await service.signUp(), await service.signUp()]
  const { id } = await make(ada, [p('Water')])
  const { workspaces } = (await ada.get('/me')).body.data
  const read = async (user: string) => (await signedInVisitor(service, { userId: user })).get(`/d/${id}/state`)
  const first = await read(ada.user_id)
  t.match([first.status, first.html], [200, /Water/], 'it was never opened live')
  await openLive(service, { workspace_id: workspaces[0].id, id })
  t.match(await read(ada.user_id), { status: 200, html: first.html }, 'live editing goes on with the same document')
  t.equal((await read(stranger.user_id)).status, 404)
  t.equal((await new Visitor(service.origin).get(`/d/${id}/state`)).status, 303)
  await put(ada, id, [p('Air')])
  t.equal((await read(ada.user_id)).status, 204, 'live editing brings the new text')
})

t.test('only a member of the workspace with the form of the page gets a ticket', async (t) => {
  const service = await sharedService()
  const [ada, stranger] = [await service.signUp(), await service.signUp()]
  const { id } = await make(ada, [p('Water')])
  const visitor = await signedInVisitor(service, { userId: ada.user_id })
  const given = await visitor.post(`/d/${id}/ticket`, {}, await tokenHeader(visitor))
  t.match(JSON.parse(given.html).ticket, /^svc_tik_/)
  t.equal(given.headers.get('cache-control'), 'no-store')
  t.equal((await visitor.post(`/d/${id}/ticket`, {})).status, 403, 'another site cannot ask in her name')
  const other = await signedInVisitor(service, { userId: stranger.user_id })
  t.equal((await other.post(`/d/${id}/ticket`, {}, await tokenHeader(other))).status, 404)
  t.equal((await other.get(`/d/${id}`)).status, 404)
  t.equal((await other.get(`/d/${id}/members`)).status, 404, 'the names of members are for members')
  const { status, location } = await new Visitor(service.origin).get(`/d/${id}`)
  t.strictSame([status, location], [303, `/login?next=${encodeURIComponent(`/d/${id}`)}`])
})

// The header with which the scripts of a page prove that they are of this service.
async function tokenHeader(visitor: Visitor): Promise<Record<string, string>> {
  const { csrf_token = '' } = hiddenFields((await visitor.get('/device')).html, '/logout')
  return { 'x-csrf-token': csrf_token }
}

// The bytes of what a page loads first: its script, and the parts that this script cannot run without.
async function bytesOf(page: string): Promise<number> {
  const { entries, parts, files } = await pageScripts()
  const names = [entries[page] ?? '', ...(parts[page] ?? [])]
  return names.reduce((sum, name) => sum + (files.get(name)?.compressed.byteLength ?? Number.POSITIVE_INFINITY), 0)
}
