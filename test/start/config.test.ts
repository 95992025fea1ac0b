import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { ConfigError, readConfig, settings } from '../../shared/config/config.ts'
import type { Setting } from '../../shared/config/settings.ts'
import { runsTimes } from '../support/runs.ts'
import { t } from '../support/tap.ts'

const entries: [string, Setting<unknown>][] = Object.entries(settings)
const secrets = { SESSION_SECRET: 's'.repeat(32), TOKEN_PEPPER: 'p'.repeat(32) }
// Settings that another setting needs.
const companions = { OIDC_CLIENT_ID: 'documents' }

/** A wrong and a right value of every setting that has wrong values. */
const samples: Record<string, { wrong: string; right: string; value: unknown }> = {
  DATABASE_URL: { wrong: 'mysql://root:hunter2@db', right: 'postgresql://db/kb', value: 'postgresql://db/kb' },
  DATABASE_PATIENCE_SECONDS: { wrong: '9', right: '10', value: 10 },
  HOST: { wrong: 'http://localhost', right: '::1', value: '::1' },
  PORT: { wrong: '65536', right: '0', value: 0 },
  DRAIN_MS: { wrong: '5s', right: '0', value: 0 },
  PUBLIC_ORIGIN: { wrong: 'https://kb.test/docs', right: 'https://kb.test', value: 'https://kb.test' },
  SESSION_SECRET: { wrong: 'too-short-a-secret', right: 'x'.repeat(32), value: 'x'.repeat(32) },
  TOKEN_PEPPER: { wrong: 'too-short-a-pepper', right: 'x'.repeat(32), value: 'x'.repeat(32) },
  OIDC_ISSUER: { wrong: 'http://login.acme.test', right: 'https://login.acme.test', value: 'https://login.acme.test' },
  TRUST_PROXY: { wrong: 'true', right: '2', value: 2 },
  CORS_ALLOWED_ORIGINS: { wrong: '*, kb.test', right: 'http://a, http://b', value: ['http://a', 'http://b'] },
  COLLAB_PORT: { wrong: '65536', right: '0', value: 0 },
  COLLAB_URL: { wrong: 'https://kb.test/collab', right: 'wss://kb.test/collab', value: 'wss://kb.test/collab' },
  COLLAB_HAND_ON: { wrong: '1', right: 'true', value: true },
  COLLAB_DEBOUNCE_MS: { wrong: '2s', right: '0', value: 0 },
  COLLAB_MAX_DEBOUNCE_MS: { wrong: '60001', right: '500', value: 500 },
  COLLAB_SNAPSHOT_MS: { wrong: '99', right: '100', value: 100 },
  COLLAB_MAX_CONNECTIONS_PER_DOCUMENT: { wrong: '0', right: '1', value: 1 },
  COLLAB_MAX_CONNECTIONS: { wrong: '0', right: '1', value: 1 },
  LOG_FORMAT: { wrong: 'xml', right: 'json', value: 'json' },
  LOG_LEVEL: { wrong: 'verbose', right: 'debug', value: 'debug' },
  METRICS_PORT: { wrong: '65536', right: '9100', value: 9100 },
  WORKER_QUEUES: { wrong: 'search changes', right: 'search,sweeps', value: ['search', 'sweeps'] },
  WORKER_CONCURRENCY: { wrong: '0', right: '64', value: 64 },
  WORKER_COMPUTE_MS: { wrong: '9', right: '60000', value: 60_000 },
  RATE_READ_PER_MIN: { wrong: '10/s', right: '-1', value: -1 },
  RATE_WRITE_PER_MIN: { wrong: '1e3', right: '0', value: 0 },
  RATE_SEARCH_PER_MIN: { wrong: '0x10', right: '10', value: 10 },
  RATE_JOB_PER_MIN: { wrong: '1.5', right: '10', value: 10 },
  RATE_USER_FACTOR: { wrong: '2.5', right: '-1', value: -1 },
  RATE_IP_PER_MIN: { wrong: '١٠', right: '10', value: 10 },
  RATE_SHARE_PER_MIN: { wrong: '5/min', right: '-5', value: -5 },
  QUOTA_KNOWLEDGE_BASES: { wrong: '-1', right: '0', value: 0 },
  QUOTA_DOCUMENTS: { wrong: 'many', right: '1', value: 1 },
  QUOTA_FOLDERS: { wrong: '1 000', right: '1', value: 1 },
  QUOTA_DOCUMENT_CHARACTERS: { wrong: '500_000', right: '1', value: 1 },
  DOCUMENT_MAX_BYTES: { wrong: '1023', right: '1024', value: 1024 },
  QUOTA_ATTACHMENT_BYTES: { wrong: '10GB', right: '0', value: 0 },
  QUOTA_TOKENS: { wrong: 'few', right: '1', value: 1 },
  TRANSLATION_DAILY_CHARACTERS: { wrong: '+1', right: '1', value: 1 },
  BODY_MAX_BYTES: { wrong: '5mb', right: '1024', value: 1024 },
  ATTACHMENT_MAX_BYTES: { wrong: '0', right: '1', value: 1 },
  ATTACHMENT_TYPES: { wrong: 'image/png, pdf', right: 'image/png, text/csv', value: ['image/png', 'text/csv'] },
  ATTACHMENT_S3_BUCKET: { wrong: 'A_Bucket', right: 'a-bucket', value: 'a-bucket' },
  ATTACHMENT_S3_ENDPOINT: { wrong: 's3.test', right: 'http://s3.test:9000', value: 'http://s3.test:9000' },
  DEVICE_CODE_TTL_SECONDS: { wrong: '29', right: '30', value: 30 },
  DEVICE_POLL_INTERVAL_SECONDS: { wrong: '0', right: '1', value: 1 },
  DEVICE_TOKEN_TTL_DAYS: { wrong: '0', right: '3650', value: 3650 },
  OAUTH_ACCESS_TOKEN_TTL_SECONDS: { wrong: '59', right: '60', value: 60 },
  OAUTH_ALLOW_PRIVATE: { wrong: 'yes', right: 'true', value: true },
  SSE_MAX_STREAMS_PER_TOKEN: { wrong: '0', right: '1', value: 1 },
  SSE_RETENTION_DAYS: { wrong: '0', right: '1', value: 1 },
  SSE_HEARTBEAT_SECONDS: { wrong: '301', right: '300', value: 300 },
  CHANGES_RETENTION: { wrong: '0', right: '1', value: 1 },
  VERSIONS_RETENTION: { wrong: '0', right: '1', value: 1 },
  CHANGES_WAIT_MS: { wrong: '60001', right: '0', value: 0 },
  IDEMPOTENCY_TTL_HOURS: { wrong: '0', right: '1', value: 1 },
  JOB_RETENTION_DAYS: { wrong: '0', right: '1', value: 1 },
  TRASH_RETENTION_DAYS: { wrong: '-1', right: '0', value: 0 },
  AUDIT_RETENTION_DAYS: { wrong: '0', right: '1', value: 1 },
  OPENAI_BASE_URL: { wrong: 'api.openai.com', right: 'http://model/v1', value: 'http://model/v1' },
  MODEL_TIMEOUT_MS: { wrong: '99', right: '100', value: 100 },
  MODEL_CONCURRENCY: { wrong: '0', right: '1', value: 1 },
  MODEL_PRICE_INPUT_PER_MCHAR: { wrong: '-1', right: '0.15', value: 0.15 },
  MODEL_PRICE_OUTPUT_PER_MCHAR: { wrong: '1,5', right: '2', value: 2 },
  SUMMARY_AUTO_REFRESH: { wrong: 'yes', right: 'true', value: true },
  PUBLIC_SHARE_ENABLED: { wrong: '0', right: 'false', value: false },
}

t.test('a provider without a client id is refused at start, not at the first sign-in', async (t) => {
  const message = 'OIDC_CLIENT_ID is required when OIDC_ISSUER is set'
  t.throws(() => readConfig({ ...secrets, OIDC_ISSUER: 'https://login.acme.test' }), new ConfigError(message))
})

t.test('a wrong value of any variable is refused with its name, what was given and what is allowed', async (t) => {
  const constrained = entries.filter(([, { allowed }]) => allowed !== 'any text').map(([name]) => name)
  t.same(Object.keys(samples), constrained, 'every variable that can be wrong has a sample')
  for (const [name, { wrong }] of Object.entries(samples)) {
    const setting = entries.find(([candidate]) => candidate === name)?.[1]
    const given = setting?.secret ? 'a value' : JSON.stringify(wrong)
    const message = `${name} was given ${given}; allowed: ${setting?.allowed}`
    t.throws(() => readConfig({ ...secrets, [name]: wrong }), new ConfigError(message), name)
  }
})

t.test('every allowed value is taken as what it means, with blanks around it', async (t) => {
  for (const [name, { right, value }] of Object.entries(samples)) {
    t.same(readConfig({ ...secrets, ...companions, [name]: ` ${right} ` })[name as keyof typeof settings], value, name)
  }
})

t.test('an origin is taken as browsers write it, and refused when it is more than an origin', async (t) => {
  const origin = (PUBLIC_ORIGIN: string) => readConfig({ ...secrets, PUBLIC_ORIGIN }).PUBLIC_ORIGIN
  const canonical = [
    ['http://LocalHost:4330', 'http://localhost:4330'],
    ['HTTPS://KB.test:443', 'https://kb.test'],
    ['http://kb.test:80/', 'http://kb.test'],
    ['https://bücher.test', 'https://xn--bcher-kva.test'],
    ['http://[0:0::1]:4330', 'http://[::1]:4330'],
  ] as const
  for (const [given, taken] of canonical) t.equal(origin(given), taken)
  const more = ['?x', '?', '#', '/?x', '/docs']
  for (const wrong of [
    ...more.map((rest) => `http://localhost:4330${rest}`),
    'http://a@kb.test',
    'http://kb.test:99999',
  ])
    t.throws(() => origin(wrong), { name: 'ConfigError', message: /^PUBLIC_ORIGIN was given / }, wrong)
  t.same(readConfig({ ...secrets, CORS_ALLOWED_ORIGINS: 'https://KB.test:443,*' }).CORS_ALLOWED_ORIGINS, [
    'https://kb.test',
    '*',
  ])
})

t.test('without a variable, and with an empty one, its default holds', async (t) => {
  const empty = Object.fromEntries(entries.map(([name]) => [name, '']))
  for (const config of [readConfig(secrets), readConfig({ ...empty, ...secrets })]) {
    for (const [name, { fallback }] of entries) {
      if (name in secrets) continue
      t.equal(config[name as keyof typeof settings], fallback, name)
    }
  }
})

t.test('an operator who made several mistakes is told all of them at once', async (t) => {
  const refused = () => readConfig({ ...secrets, PORT: 'http', LOG_LEVEL: 'loud', SUMMARY_AUTO_REFRESH: 'on' })
  t.throws(refused, { name: 'ConfigError', message: /^PORT .*\nLOG_LEVEL .*\nSUMMARY_AUTO_REFRESH .*$/ })
})

t.test('whatever is given is taken or refused by name, and a secret never appears in a message', async (t) => {
  const variable = fc.constantFrom(...entries)
  const anything = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => `hunter2${text}`)
  fc.assert(
    fc.property(variable, anything, ([name, { secret }], given) => {
      try {
        readConfig({ ...secrets, [name]: given })
      } catch (error) {
        if (!(error instanceof ConfigError)) return false
        return error.message.startsWith(`${name} was given `) && error.message.includes('hunter2') === !secret
      }
      return true
    }),
    runsTimes(2),
  )
  const declared = entries.filter(([, { secret }]) => secret).map(([name]) => name)
  t.same(declared, [
    'DATABASE_URL',
    'SESSION_SECRET',
    'TOKEN_PEPPER',
    'OIDC_CLIENT_SECRET',
    'METRICS_TOKEN',
    'ATTACHMENT_S3_SECRET_ACCESS_KEY',
    'OPENAI_API_KEY',
  ])
})

t.test('in production the API drains for as long as load balancers need, unless it is told otherwise', async (t) => {
  const production = { ...secrets, NODE_ENV: 'production' }
  t.equal(readConfig(production).DRAIN_MS, 5000)
  t.equal(readConfig({ ...production, DRAIN_MS: '0' }).DRAIN_MS, 0)
  t.equal(readConfig(secrets).DRAIN_MS, 0)
})

t.test('production does not start with secrets nobody chose', async (t) => {
  const production = { NODE_ENV: 'production', DATA_DIR: '/nowhere' }
  t.throws(() => readConfig(production), {
    name: 'ConfigError',
    message: [
      'SESSION_SECRET is required when NODE_ENV=production: at least 32 characters',
      'TOKEN_PEPPER is required when NODE_ENV=production: at least 32 characters',
    ].join('\n'),
  })
  t.equal(readConfig({ ...production, ...secrets }).production, true)
})

t.test('generated secrets are the same for every process and readable by their owner alone', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'documents-config-'))
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  const source = `
    import { readConfig } from '${new URL('../../shared/config/config.ts', import.meta.url)}'
    const { SESSION_SECRET, TOKEN_PEPPER } = readConfig({ DATA_DIR: process.argv[1] })
    console.log(SESSION_SECRET, TOKEN_PEPPER)`
  const { NODE_OPTIONS: _tap, ...env } = process.env
  const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', source, directory], { env })
  const outputs = await Promise.all([start(), start(), start(), start()])
  const [first, ...others] = outputs.map(({ stdout }) => stdout)
  t.match(first, /^[0-9a-f]{64} [0-9a-f]{64}\n$/)
  t.same(new Set(others), new Set([first]))

  const files = readdirSync(directory)
  t.same(files.sort(), ['session-secret.secret', 'token-pepper.secret'], 'nothing is left beside them')
  for (const file of files) t.equal(statSync(join(directory, file)).mode & 0o777, 0o600)
})
