import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDocument, search, startSite, until, writeDocument } from '../../support/site.ts'
import { type Test, t } from '../../support/tap.ts'

const directory = mountSmallDisk(t)
if (directory === undefined) t.comment('skipped: a disk of its own needs Linux and the right to mount')
else {
  t.test('a full disk loses nothing: writes are refused, reads go on, and no job is given up', async (t) => {
    const site = await startSite(t, { directory: join(directory, 'data') })
    const worker = await site.work('search', 'events')
    const document = await createDocument(site, 'before')
    await until(async () => (await search(site, 'before')).projection.complete)
    const ballast = join(directory, 'ballast')
    await writeFile(ballast, Buffer.alloc(2 ** 29)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOSPC') throw error
    })

    const acknowledged = new Map<string, string>()
    let refusal: Awaited<ReturnType<typeof writeDocument>> | undefined
    // First these writes use up the free space inside PostgreSQL's files.
    for (let number = 0; refusal === undefined; number += 1) {
      const text = `word${number} ${noise()}`
      const reply = await site.client.post('/documents', { title: 'x', content: { format: 'markdown', content: text } })
      if (reply.status === 201) acknowledged.set(reply.body.data.id, `word${number}`)
      else refusal = reply
    }
    t.match(refusal, { status: 503, body: { error: { code: 'service_unavailable' } } })
    t.match(refusal.headers.get('retry-after'), /^[1-9][0-9]*$/)
    t.equal((await site.client.get(`/documents/${document.id}/content`)).status, 200)
    const ready = await site.client.get('//readyz')
    t.equal(ready.status, 503)
    t.match(JSON.parse(ready.text), { checks: { database: 'failed' } })
    await sleep(10_000)

    await unlink(ballast)
    await until(async () => (await writeDocument(site, document, 'after')).status === 200)
    await until(async () => (await search(site, 'after')).projection.complete)
    for (const [id, word] of acknowledged) {
      t.match((await search(site, word)).results, [{ document_id: id }], 'what was acknowledged is there and found')
    }
    t.same(await site.ask(`SELECT FROM pgboss.job WHERE name LIKE '%.dead'`), [], 'no job is given up')
    t.notMatch(worker.output(), '"outcome":"failed"')
  })
}

// A text that compresses badly and has few words.
function noise(): string {
  return Array.from({ length: 200 }, () => Math.random().toString(36).slice(2).repeat(4)).join('')
}

function mountSmallDisk(t: Test): string | undefined {
  const place = mkdtempSync(join(tmpdir(), 'documents-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=320m', 'tmpfs', place], { stdio: 'pipe' })
  } catch {
    rmSync(place, { recursive: true })
    return undefined
  }
  t.teardown(() => {
    execFileSync('umount', ['-l', place])
    rmSync(place, { recursive: true })
  })
  return place
}
