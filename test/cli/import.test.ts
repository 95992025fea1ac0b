import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { workersOf } from '../../workers/types.ts'
import { commandLine } from '../support/command-line.ts'
import { root } from '../support/processes.ts'
import { onlyLong } from '../support/run-options.ts'
import { startTestService } from '../support/service.ts'
import { t } from '../support/tap.ts'
import { startWorkers } from '../support/workers.ts'

const service = await startTestService(t)
await startWorkers(t, service, workersOf(['search']))
const ada = await service.signUp({ email: 'ada@example.test' })

t.test(
  'whoever copies the quick start of the README into a shell ends with an edited document',
  onlyLong,
  async (t) => {
    const { directory } = commandLine(t)
    writeFileSync(join(directory, 'bootstrap.json'), JSON.stringify({ token: ada.token }))
    const [, section = ''] = readFileSync(join(root, 'README.md'), 'utf8').split('\n## Command line\n')
    const [, block = ''] = /```sh\n(.*?)```/s.exec(section) ?? []
    const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', block], {
      cwd: root,
      env: {
        PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
        HOME: directory,
        XDG_CONFIG_HOME: directory,
        ORIGIN: service.origin,
        DATA_DIR: directory,
        NOTES: join(directory, 'notes'),
      },
    })
    t.match(stdout, 'Signed in to')
    t.match(
      stdout,
      /Knowledge base \d+: 1 documents, 1 folders, 0 files\.\nnotes\n└── Mammals\/ {2}folders\/\d+\n {4}└── Elephants {2}doc_/,
    )
    t.match(stdout, 'Elephants\n  An elephant drinks a hundred litres a day.\n  notes / Mammals / Elephants')
    t.match(
      stdout,
      /Stored\.\n[\s\S]*\n-An elephant drinks \*\*a hundred litres\*\* a day\.\n\+An elephant drinks \*\*a thousand litres/,
    )
  },
)

t.test('a folder is imported into a base, and what cannot be imported is named', async (t) => {
  const { run, json, directory } = commandLine(t, { origin: service.origin, token: ada.token })
  const base = (await ada.post('/knowledge-bases', { name: 'Zoo' })).body.data
  mkdirSync(join(directory, 'docs'))
  writeFileSync(join(directory, 'docs/a.md'), 'See [b](b.md).')
  writeFileSync(join(directory, 'docs/b.md'), 'b')
  t.match(await json(['import', 'docs', '--into', 'Zoo']), { knowledge_base_id: base.id, documents: 2, failed: [] })
  t.match((await run(['cat', 'Zoo/a'])).out, /^See \[b\]\(svc:\/\/doc\/doc_/)
  const again = await run(['import', 'docs', '--into', 'Zoo'])
  t.match(again, { code: 0, err: /imported before, on 20/, out: /: 2 documents/ })
  t.equal((await ada.get(`/documents?knowledge_base_id=${base.id}`)).body.data.length, 2, 'nothing is there twice')

  writeFileSync(join(directory, 'docs/c.md'), Buffer.from([0xff]))
  const partly = await run(['import', 'docs', '--into', 'Zoo'])
  t.match(partly, { code: 1, out: /: 2 documents/ })
  t.match(partly.err, 'not imported: "c.md": c.md is not UTF-8')
  t.match(partly.err, '1 things were not imported')
  t.match(await run(['import', 'nowhere']), { code: 1, err: /there is no nowhere/ })
})

t.test('an import without the right to write ends with the exit code of that, and makes nothing', async (t) => {
  const reader = await service.signUp({ scopes: 'read_only' })
  const { run, directory } = commandLine(t, { origin: service.origin, token: reader.token })
  mkdirSync(join(directory, 'docs'))
  writeFileSync(join(directory, 'docs/a.md'), 'a')
  const refused = await run(['import', 'docs', '--json'])
  t.equal(refused.code, 4)
  t.match(JSON.parse(refused.err), { error: { code: 'insufficient_scope', hint: /--scopes/ } })
  t.notOk(existsSync(join(directory, 'docs.import-state')))
})
