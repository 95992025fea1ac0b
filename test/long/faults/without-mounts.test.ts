import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Client } from '../../support/client.ts'
import { startWholeService } from '../../support/processes.ts'
import { t } from '../../support/tap.ts'

// The process is root without the right to mount, as in most containers.
const within = ['setpriv', '--bounding-set=-sys_admin']

if (process.geteuid?.() !== 0 || spawnSync('setpriv', ['--version']).status !== 0) {
  t.comment('skipped: only root without the right to mount needs another way, and that takes setpriv')
} else {
  t.test('where nothing can be mounted the embedded PostgreSQL runs as well, and says what it may do', async (t) => {
    const [{ status }] = [spawnSync(within[0] ?? '', [...within.slice(1), 'unshare', '--mount', 'true'])]
    t.not(status, 0, 'mounting is really out of reach')
    const directory = mkdtempSync(join(tmpdir(), 'documents-mounts-'))
    t.teardown(() => rmSync(directory, { recursive: true, force: true }))
    const service = await startWholeService({ directory, within })
    t.teardown(service.stop)
    t.match(
      service.output(),
      'the right to read every file here, since no private mounts can be made: consider DATABASE_URL',
    )

    const client = new Client(service)
    const created = await client.post('/documents', {
      title: 'Written',
      content: { format: 'markdown', content: 'here' },
    })
    t.equal(created.status, 201)
    t.equal(
      (await client.get(`/documents/${created.body.data.id}/content?format=markdown`)).body.data.content,
      'here\n',
    )

    const [pid = '', , , port] = readFileSync(join(directory, 'postgres/postmaster.pid'), 'utf8').split('\n')
    const facts = readFileSync(`/proc/${pid}/status`, 'utf8')
    t.notMatch(facts, /^Uid:\s+0\s/m, 'PostgreSQL does not run as root')
    t.match(facts, /^CapEff:\s+0000000000000002$/m, 'and may do nothing beyond passing folders')
    const password = readFileSync(join(directory, 'documents.password'), 'utf8').trim()
    const ordinary = new pg.Client(`postgres://documents:${password}@127.0.0.1:${port}/postgres`)
    await ordinary.connect()
    t.teardown(() => ordinary.end())
    const [role] = (await ordinary.query('SELECT rolsuper FROM pg_roles WHERE rolname = current_user')).rows
    t.same(role, { rolsuper: false })
    for (const statement of [`SELECT pg_read_file('/etc/shadow')`, `COPY documents TO PROGRAM 'true'`]) {
      await t.rejects(ordinary.query(statement), { code: '42501' }, statement)
    }
    await ordinary.end()
    t.equal(await service.stop(), 0)
  })
}
