import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { settings } from '../../shared/config/config.ts'
import type { Setting } from '../../shared/config/settings.ts'
import { queues } from '../../shared/jobs/queues.ts'
import { freePort, parseProcfile } from '../../shared/start/processes.ts'
import { workerTypes } from '../../workers/types.ts'
import { root, startWholeService } from '../support/processes.ts'
import { onlyLong } from '../support/run-options.ts'
import { t } from '../support/tap.ts'

const [readme, configuration, deployment, monitoring] = [
  'README.md',
  ...['configuration', 'deployment', 'monitoring'].map((chapter) => `api/guide/${chapter}.md`),
].map((path) => readFileSync(join(root, path), 'utf8')) as [string, string, string, string]

t.test('whoever copies the quick start of the README into a shell ends with a fresh hit', onlyLong, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'documents-readme-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const [workers = '', live = ''] = (await Promise.all([freePort({}), freePort({})])).map(String)
  const service = await startWholeService({ directory, env: { METRICS_PORT: workers, COLLAB_PORT: live } })
  t.teardown(service.stop)
  const [, block = ''] = /```sh\n(.*?)```/s.exec(readme) ?? []
  const env = { PATH: process.env['PATH'], ORIGIN: service.origin, DATA_DIR: directory }
  const { stdout } = await promisify(execFile)('sh', ['-eu', '-c', block], { env })
  const lines = stdout.trim().split('\n')
  const { results, projection } = JSON.parse(lines.at(-1) ?? '').data
  t.match(results, [{ title: 'Elephants', heading_path: ['Water'], freshness: 'current' }])
  t.match(projection, { complete: true, freshness: 'current' })

  const addresses = [service.origin, ...[workers, live].map((port) => `http://127.0.0.1:${port}`)]
  const texts = await Promise.all(addresses.map(async (origin) => (await fetch(`${origin}/metrics`)).text()))
  const metrics = texts.join('')
  for (const name of new Set(monitoring.match(/svc_[a-z_]+/g)))
    t.match(metrics, `# TYPE ${name} `, `${name} is measured`)
})

t.test('the guide describes every variable as the code reads it', async (t) => {
  const expected = Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
    const isLiteral = setting.defaultText === String(setting.fallback)
    const shown = isLiteral && setting.defaultText !== '' ? `\`${setting.defaultText}\`` : setting.defaultText
    return [`\`${name}\``, shown, setting.allowed, setting.meaning]
  })
  t.same(tableOf(configuration, 'Settings'), expected)
})

t.test('the guide lists the processes of the Procfile, and the Procfile every type of worker', async (t) => {
  const { release, processes } = parseProcfile(readFileSync(join(root, 'Procfile'), 'utf8'))
  const listed = tableOf(deployment, 'Processes').map(([name, command]) => [name, command])
  const types = [{ name: 'release', command: release }, ...processes]
  t.same(
    listed,
    types.map(({ name, command }) => [`\`${name}\``, `\`${command}\``]),
    'deployment.md, section Processes: a row for each line of the Procfile, in its order',
  )
  const workers = processes.filter(({ command }) => command.startsWith('node workers/main.ts '))
  const expected = Object.keys(workerTypes).map((type) => ({ name: type, command: `node workers/main.ts ${type}` }))
  t.same(workers, expected, 'Procfile: a line for each type of workers/types.ts, in its order')
  const run = Object.values(workerTypes).flatMap((workers) => workers.map(({ name }) => name))
  for (const [key, { name }] of Object.entries(queues))
    t.ok(run.includes(name), `workers/types.ts: add the worker of queues.${key} (${name}) to a type`)
})

t.test('the README and the guide explain scripts that exist', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object }
  const mentioned = [
    ...[readme, configuration, deployment, monitoring].join('\n').matchAll(/`npm (?:run (?:--silent )?)?([a-z]+)/g),
  ].map(([, name = '']) => name)
  for (const name of new Set(mentioned)) t.ok(name in scripts || ['ci', 'install', 'pack'].includes(name), name)
})

// The rows below the head of the first table of a section of a chapter.
function tableOf(chapter: string, section: string): string[][] {
  const [, text = ''] = chapter.split(`\n## ${section}\n`)
  const [table = ''] = /^\|.*(?:\n\|.*)+/m.exec(text) ?? []
  const rows = table.split('\n').slice(2)
  return rows.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
