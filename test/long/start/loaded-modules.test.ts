import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readConfig } from '../../../shared/config/config.ts'
import { databaseUrlBesideService } from '../../../shared/start/embedded-postgres.ts'
import { startApi, startProcess, startWholeService } from '../../support/processes.ts'
import { type Test, t } from '../../support/tap.ts'

const recorder = fileURLToPath(new URL('../../support/record-modules.ts', import.meta.url))

// Libraries that only some calls or some settings need.
const onDemand = [
  '@aws-sdk/client-s3',
  '@pg-boss/dashboard',
  'file-type',
  'highlight.js',
  'oidc-provider',
  'openai',
  'openid-client',
  'pino-pretty',
  'sanitize-html',
  'temml',
  'yauzl',
  'yazl',
]
const ofRequests = ['@fastify/busboy', 'cors', 'eta', 'express', 'helmet', 'rate-limiter-flexible']
const ofLiveEditing = ['@hocuspocus/server', 'ws', 'y-protocols', 'yjs']
const ofMigrations = ['jiti', 'node-pg-migrate']
const ofTheService = ['pg-boss', 'pino', 'slonik', 'typebox']

t.test('a service at rest has loaded no library that it does not use', async (t) => {
  const { directory, env, loaded } = recording(t)
  const service = await startWholeService({ directory, env })
  t.teardown(service.stop)

  const api = loaded('api_main.ts')
  t.ok(isSubset([...ofRequests, ...ofTheService], api), 'the record shows what is used')
  t.strictSame(both(api, [...onDemand, ...ofLiveEditing, ...ofMigrations]), [])

  const collab = loaded('api_collab_main.ts')
  t.ok(isSubset([...ofLiveEditing, ...ofTheService], collab))
  const unused = ofRequests.filter((name) => name !== 'rate-limiter-flexible')
  t.strictSame(both(collab, [...onDemand, ...unused, ...ofMigrations]), [])

  const workers = loaded('workers_main.ts')
  t.ok(isSubset(ofTheService, workers))
  t.strictSame(both(workers, [...onDemand, ...ofRequests, ...ofLiveEditing, ...ofMigrations]), [])

  const supervisor = loaded('shared_start_start.ts')
  t.ok(isSubset(['pg', 'pino'], supervisor))
  const ofOthers = ofTheService.filter((name) => name !== 'pino')
  t.strictSame(both(supervisor, [...onDemand, ...ofRequests, ...ofLiveEditing, ...ofMigrations, ...ofOthers]), [])

  const url = databaseUrlBesideService(readConfig({ DATA_DIR: directory }))
  const bucket = recording(t)
  const settings = { ATTACHMENT_S3_BUCKET: 'files', ATTACHMENT_S3_ENDPOINT: 'http://127.0.0.1:1' }
  const other = await startApi({ ...bucket.env, ...settings, DATABASE_URL: url, DATA_DIR: directory })
  t.teardown(other.stop)
  t.strictSame(both(bucket.loaded('api_main.ts'), onDemand), ['@aws-sdk/client-s3'])
})

t.test('a command of the command line has not loaded the libraries of sync and import', async (t) => {
  const { directory, env, loaded } = recording(t)
  const command = startProcess('shared/cli/main.ts', { words: ['whoami'], env: { ...env, HOME: directory } })
  t.equal(await command.ended, 4)
  const commandLine = loaded('shared_cli_main.ts')
  t.ok(isSubset(['commander', 'string-width'], commandLine), 'the record shows what is used')
  t.strictSame(both(commandLine, ['p-limit', 'remark', 'typebox', 'ulid', 'unified', 'yaml', 'yauzl']), [])
})

// A folder, the environment in which processes record their modules, and the packages that a program has loaded.
function recording(t: Test) {
  const directory = mkdtempSync(join(tmpdir(), 'documents-modules-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const env = { NODE_OPTIONS: `--import=${recorder}`, RECORDED_MODULES: directory }
  const loaded = (program: string) => {
    const urls = readFileSync(join(directory, program), 'utf8')
    return new Set(Array.from(urls.matchAll(/.*\/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)/g), ([, name = '']) => name))
  }
  return { directory, env, loaded }
}

function both(loaded: ReadonlySet<string>, names: readonly string[]): string[] {
  return names.filter((name) => loaded.has(name))
}

function isSubset(names: readonly string[], of: ReadonlySet<string>): boolean {
  return names.every((name) => of.has(name))
}
