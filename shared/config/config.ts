import { randomBytes } from 'node:crypto'
import { chmodSync, linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { databaseAddress } from './database-address.ts'
import { boolean, choice, integer, limit, list, optionalNumber, type Setting, text } from './settings.ts'

const attachmentTypes = [
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'application/pdf',
  'text/plain',
  'text/markdown',
  'text/csv',
  'application/json',
  'application/zip',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
]

/** Every environment variable of the service, in the order in which the guide lists them. */
export const settings = {
  DATABASE_URL: text({
    meaning: 'PostgreSQL 15 to 18; `npm start` runs an embedded one under `DATA_DIR` when it is unset',
    pattern: /^postgres(ql)?:\/\//,
    canonical: (value) => (isAddress(value) ? value : undefined),
    allowed: 'a postgres:// or postgresql:// URL',
    secret: true,
  }),
  DATABASE_PATIENCE_SECONDS: integer({
    meaning: 'how long a process goes on without its database before it ends with exit code 69, to be started anew',
    fallback: 120,
    min: 10,
    max: 86_400,
  }),
  HOST: text({
    meaning: 'address on which processes listen; empty = all interfaces',
    defaultText: 'all interfaces; `npm start` `127.0.0.1`',
    pattern: /^[A-Za-z0-9.:_-]+$/,
    allowed: 'an IP address or the name of a host',
  }),
  PORT: integer({ meaning: 'port of the API; 0 picks a free one', fallback: 3000, max: 65535 }),
  DRAIN_MS: integer({
    meaning: 'how long the API goes on serving after SIGTERM, with `/readyz` 503, before it stops listening',
    fallback: 0,
    inProduction: 5000,
    max: 600_000,
  }),
  PUBLIC_ORIGIN: text({
    meaning: 'origin under which people and clients reach the service',
    fallback: 'http://localhost:3000',
    canonical: originOf,
    allowed: 'an http(s) origin without a path',
  }),
  DATA_DIR: text({
    meaning: 'embedded PostgreSQL, local attachments, generated secrets, `bootstrap.json`',
    fallback: '.data',
  }),
  SESSION_SECRET: text({
    meaning: 'signs browser sessions; required when `NODE_ENV=production`',
    defaultText: 'generated once into `DATA_DIR`',
    pattern: /^.{32,}$/,
    allowed: 'at least 32 characters',
    secret: true,
  }),
  TOKEN_PEPPER: text({
    meaning: 'keys the hashes of API tokens; required when `NODE_ENV=production`',
    defaultText: 'generated once into `DATA_DIR`',
    pattern: /^.{32,}$/,
    allowed: 'at least 32 characters',
    secret: true,
  }),
  OIDC_ISSUER: text({
    meaning: 'OpenID Connect provider where people can sign in as well; empty = passwords alone',
    pattern: /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)(:\d+)?(\/|$))\S*$/,
    allowed: 'an https URL, or http on localhost',
  }),
  OIDC_CLIENT_ID: text({ meaning: 'client id at the provider; required with `OIDC_ISSUER`' }),
  OIDC_CLIENT_SECRET: text({ meaning: 'client secret at the provider; empty = a public client', secret: true }),
  TRUST_PROXY: integer({
    meaning: 'number of proxies in front of the process (`api` or `collab`)',
    fallback: 0,
    max: 32,
  }),
  CORS_ALLOWED_ORIGINS: list({
    meaning: 'origins whose pages may call the API and edit live, comma-separated',
    fallback: ['*'],
    pattern: /^(\*|https?:\/\/[^/\s,]+)$/,
    canonical: (item) => (item === '*' ? item : originOf(item)),
    allowed: '* or http(s) origins, comma-separated',
  }),
  COLLAB_PORT: integer({ meaning: 'port of the `collab` process; 0 picks a free one', fallback: 3002, max: 65535 }),
  COLLAB_URL: text({
    meaning: 'address at which editors reach live editing, as `GET /me` answers it',
    defaultText: '`/collab` at `COLLAB_PORT` of the host of `PUBLIC_ORIGIN`; `npm start` at the port of the API',
    pattern: /^wss?:\/\/[^/\s?#]+(\/[^\s?#]*)?$/,
    allowed: 'a ws:// or wss:// URL',
  }),
  COLLAB_HAND_ON: boolean(
    'the API hands on what arrives at `/collab` to the `collab` process of its host; `npm start` sets it',
    false,
  ),
  COLLAB_DEBOUNCE_MS: integer({
    meaning: 'pause in typing after which typed text is stored',
    fallback: 2000,
    max: 60_000,
  }),
  COLLAB_MAX_DEBOUNCE_MS: integer({
    meaning: 'how long typing without a pause may go unstored',
    fallback: 10_000,
    max: 60_000,
  }),
  COLLAB_SNAPSHOT_MS: integer({
    meaning: 'how long people edit a document until a version of it is kept',
    fallback: 600_000,
    min: 100,
  }),
  COLLAB_MAX_CONNECTIONS_PER_DOCUMENT: integer({
    meaning: 'connections of editors to one document in one process',
    fallback: 100,
    min: 1,
    max: 100_000,
  }),
  COLLAB_MAX_CONNECTIONS: integer({
    meaning: 'connections of editors to one process',
    fallback: 1000,
    min: 1,
    max: 100_000,
  }),
  LOG_FORMAT: choice(
    'form of a line of the log: for programs, for people, or for people where standard output is a terminal',
    ['auto', 'json', 'text'],
    'auto',
  ),
  LOG_LEVEL: choice('least severe level that is logged', ['trace', 'debug', 'info', 'warn', 'error', 'silent'], 'info'),
  METRICS_PORT: integer({
    meaning: 'port on which each worker process serves `/metrics` of its own; 0 = none',
    fallback: 0,
    max: 65535,
  }),
  METRICS_TOKEN: text({ meaning: 'bearer token of `/metrics`; empty = open', secret: true }),
  WORKER_QUEUES: list({
    meaning: 'worker types that `node workers/main.ts` runs when none is named, comma-separated',
    fallback: ['*'],
    pattern: /^(\*|[a-z-]+)$/,
    allowed: '* or worker types, comma-separated',
  }),
  WORKER_CONCURRENCY: integer({ meaning: 'jobs of one queue at a time in one process', fallback: 4, min: 1, max: 64 }),
  WORKER_COMPUTE_MS: integer({
    meaning: 'processor time after which a worker gives up computing one document',
    fallback: 30_000,
    min: 10,
    max: 600_000,
  }),
  RATE_READ_PER_MIN: limit('reads per token and minute', 1200),
  RATE_WRITE_PER_MIN: limit('writes per token and minute', 600),
  RATE_SEARCH_PER_MIN: limit('searches per token and minute', 300),
  RATE_JOB_PER_MIN: limit('model rebuilds, translation jobs and exports per token and minute', 60),
  RATE_USER_FACTOR: limit('all tokens of a user together may use so many times the limits of one', 3),
  RATE_IP_PER_MIN: limit('device and OAuth calls and failed authentications per address and minute', 120),
  RATE_SHARE_PER_MIN: limit('shared pages and their files per address and minute', 300),
  QUOTA_KNOWLEDGE_BASES: integer({ meaning: 'knowledge bases per workspace', fallback: 100 }),
  QUOTA_DOCUMENTS: integer({ meaning: 'documents per workspace', fallback: 10_000 }),
  QUOTA_FOLDERS: integer({ meaning: 'folders per workspace', fallback: 2000 }),
  QUOTA_DOCUMENT_CHARACTERS: integer({ meaning: 'characters per document', fallback: 500_000 }),
  DOCUMENT_MAX_BYTES: integer({
    meaning: 'bytes per document: the stored body with raw HTML, addresses and attributes',
    fallback: 5_242_880,
    min: 1024,
    max: 268_435_456,
  }),
  QUOTA_ATTACHMENT_BYTES: integer({
    meaning: 'bytes of all attachments of a workspace together',
    fallback: 10_737_418_240,
  }),
  QUOTA_TOKENS: integer({
    meaning: 'tokens of a user that are neither revoked nor expired; `npm run bootstrap` is exempt',
    fallback: 100,
  }),
  TRANSLATION_DAILY_CHARACTERS: integer({
    meaning: 'source characters translated per workspace and UTC day',
    fallback: 200_000,
  }),
  BODY_MAX_BYTES: integer({
    meaning: 'largest JSON request body; at most 16384 on the endpoints without a token',
    fallback: 5_242_880,
    min: 1024,
    max: 268_435_456,
  }),
  ATTACHMENT_MAX_BYTES: integer({ meaning: 'largest attachment', fallback: 20_971_520, min: 1 }),
  ATTACHMENT_TYPES: list({
    meaning: 'accepted media types of attachments, comma-separated',
    fallback: attachmentTypes,
    defaultText: 'PNG, JPEG, GIF, WebP, PDF, text, Markdown, CSV, JSON, ZIP, docx, xlsx, pptx',
    pattern: /^[a-z]+\/[a-z0-9.+-]+$/,
    allowed: 'media types, comma-separated',
  }),
  ATTACHMENT_S3_BUCKET: text({
    meaning: 'bucket for the bytes of attachments; empty = `DATA_DIR/attachments`, which hosts have to share',
    pattern: /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    allowed: 'the name of a bucket',
  }),
  ATTACHMENT_S3_ENDPOINT: text({
    meaning: 'server that speaks the protocol of S3',
    defaultText: "Amazon's",
    pattern: /^https?:\/\//,
    allowed: 'an http(s) URL',
  }),
  ATTACHMENT_S3_REGION: text({ meaning: 'region of the bucket', fallback: 'us-east-1' }),
  ATTACHMENT_S3_ACCESS_KEY_ID: text({ meaning: "empty = credentials as Amazon's tools find them" }),
  ATTACHMENT_S3_SECRET_ACCESS_KEY: text({ meaning: 'secret of that key', secret: true }),
  DEVICE_CODE_TTL_SECONDS: integer({ meaning: 'lifetime of a device code', fallback: 900, min: 30, max: 86_400 }),
  DEVICE_POLL_INTERVAL_SECONDS: integer({ meaning: 'least pause between two polls', fallback: 5, min: 1, max: 300 }),
  DEVICE_TOKEN_TTL_DAYS: integer({
    meaning: 'validity of a token from a device code',
    fallback: 90,
    min: 1,
    max: 3650,
  }),
  OAUTH_ACCESS_TOKEN_TTL_SECONDS: integer({
    meaning: 'validity of an access token of OAuth; refresh tokens are valid for 30 days',
    fallback: 3600,
    min: 60,
    max: 86_400,
  }),
  OAUTH_ALLOW_PRIVATE: boolean(
    'client metadata documents of OAuth may come from private addresses, such as those of an intranet',
    false,
  ),
  SSE_MAX_STREAMS_PER_TOKEN: integer({ meaning: 'open event streams per token', fallback: 3, min: 1, max: 1000 }),
  SSE_RETENTION_DAYS: integer({ meaning: 'how long events are kept', fallback: 7, min: 1, max: 3650 }),
  SSE_HEARTBEAT_SECONDS: integer({
    meaning: 'pause between heartbeats; also bounds how late a revocation takes effect',
    fallback: 15,
    min: 1,
    max: 300,
  }),
  CHANGES_RETENTION: integer({ meaning: 'change watermarks kept per document', fallback: 1000, min: 1 }),
  VERSIONS_RETENTION: integer({ meaning: 'versions kept per document', fallback: 20, min: 1 }),
  CHANGES_WAIT_MS: integer({
    meaning: 'how long a changes read waits for the worker before it answers `stale`',
    fallback: 2000,
    max: 60_000,
  }),
  IDEMPOTENCY_TTL_HOURS: integer({ meaning: 'how long an Idempotency-Key is remembered', fallback: 24, min: 1 }),
  JOB_RETENTION_DAYS: integer({ meaning: 'how long finished jobs can be read', fallback: 30, min: 1 }),
  TRASH_RETENTION_DAYS: integer({
    meaning: 'how long what was deleted can be restored, unless the trash is full; 0 = deleting is final',
    fallback: 30,
    max: 3650,
  }),
  AUDIT_RETENTION_DAYS: integer({ meaning: 'how long audit records are kept', fallback: 365, min: 1 }),
  OPENAI_API_KEY: text({ meaning: 'key of the model provider; empty = 503 `model_unavailable`', secret: true }),
  OPENAI_BASE_URL: text({
    meaning: 'base URL of an OpenAI-compatible provider',
    defaultText: "the vendor's",
    pattern: /^https?:\/\//,
    allowed: 'an http(s) URL',
  }),
  SUMMARY_MODEL: text({ meaning: 'model of summaries; empty = unconfigured' }),
  TRANSLATION_MODEL: text({ meaning: 'model of translations; empty = unconfigured' }),
  MODEL_TIMEOUT_MS: integer({ meaning: 'longest model call', fallback: 60_000, min: 100 }),
  MODEL_CONCURRENCY: integer({ meaning: 'model calls at a time in one process', fallback: 4, min: 1, max: 256 }),
  MODEL_PRICE_INPUT_PER_MCHAR: optionalNumber('US dollars per million input characters, for estimated costs'),
  MODEL_PRICE_OUTPUT_PER_MCHAR: optionalNumber('US dollars per million output characters, for estimated costs'),
  SUMMARY_AUTO_REFRESH: boolean('refresh stored, unpinned deterministic summaries after a change', false),
  PUBLIC_SHARE_ENABLED: boolean('allow public links to documents', true),
} satisfies Record<string, Setting<unknown>>

type Values = { [K in keyof typeof settings]: (typeof settings)[K]['fallback'] }

function isAddress(value: string): boolean {
  try {
    return databaseAddress(value) !== ''
  } catch {
    return false
  }
}

// Returns the origin as browsers write it: in lower case, and without the usual port.
function originOf(text: string): string | undefined {
  const url = URL.parse(text)
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  return isOrigin && !/[?#\s\\]/.test(text) ? url.origin : undefined
}

/** The values of all settings. `production` is true with NODE_ENV=production. */
export type Config = Readonly<Values & { production: boolean }>

/** An error that ends the start of a process. The message has one line for each wrong or missing variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/**
 * Parses the environment. Throws a ConfigError that says for each wrong variable its name, the given value and the
 * allowed values; the value of a secret is left out. Outside production, a missing secret is generated once and kept in
 * DATA_DIR.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = []
  const production = env['NODE_ENV'] === 'production'
  const values = Object.fromEntries(
    Object.entries<Setting<unknown>>(settings).map(([name, setting]) => {
      const fallback = production ? (setting.inProduction ?? setting.fallback) : setting.fallback
      return [name, readSetting({ name, setting: { ...setting, fallback }, env, problems })]
    }),
  ) as Values
  if (values.OIDC_ISSUER !== '' && values.OIDC_CLIENT_ID === '') {
    problems.push('OIDC_CLIENT_ID is required when OIDC_ISSUER is set')
  }
  if (problems.length === 0) {
    for (const name of ['SESSION_SECRET', 'TOKEN_PEPPER'] as const) {
      if (values[name] !== '') continue
      if (production) problems.push(`${name} is required when NODE_ENV=production: ${settings[name].allowed}`)
      else values[name] = generatedSecret(values.DATA_DIR, name)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return Object.freeze({ ...values, production })
}

function readSetting(input: { name: string; setting: Setting<unknown>; env: NodeJS.ProcessEnv; problems: string[] }) {
  const given = input.env[input.name]?.trim() ?? ''
  if (given === '') return input.setting.fallback
  const value = input.setting.parse(given)
  if (value === undefined) {
    const shown = input.setting.secret ? 'a value' : JSON.stringify(given)
    input.problems.push(`${input.name} was given ${shown}; allowed: ${input.setting.allowed}`)
  }
  return value
}

// Several processes start at once. Each writes a temporary file and links it to the final name: the first link wins,
// and no process reads half a file.
function generatedSecret(directory: string, name: string): string {
  const path = join(resolve(directory), `${name.toLowerCase().replaceAll('_', '-')}.secret`)
  mkdirSync(resolve(directory), { recursive: true, mode: 0o700 })
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, randomBytes(32).toString('hex'), { mode: 0o600 })
  chmodSync(temporary, 0o600)
  try {
    linkSync(temporary, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(temporary)
  }
  return readFileSync(path, 'utf8').trim()
}

/**
 * The configuration of a process that needs the database. A wrong or missing setting ends the process with exit code 1.
 * The process prints one line for each such setting. There is no stack, since a stack tells an operator nothing.
 */
export function processConfig(): Config {
  try {
    const config = readConfig()
    if (config.DATABASE_URL !== '') return config
    throw new ConfigError('DATABASE_URL is not set; `npm start` brings its own database')
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
