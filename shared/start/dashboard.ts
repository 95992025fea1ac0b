import { once } from 'node:events'
import { serve } from '@hono/node-server'
import { PgBoss } from 'pg-boss'
import { readConfig } from '../config/config.ts'
import { chooseTls, databaseAddress } from '../config/database-address.ts'
import { runCommandLine, UsageError } from '../process/command-line.ts'
import { databaseUrlBesideService } from './embedded-postgres.ts'

const usage = `usage: npm run dashboard [-- PORT]

Serves pg-boss's dashboard of the job queues on http://localhost:PORT (3001 by default), beside a running service. It is
for this machine only, since it has no accounts, and its pages ask nothing of other hosts. PGBOSS_DASHBOARD_READ_ONLY=1
removes its buttons.

Exit codes: 0 it was stopped, 1 it failed, 2 the command line makes no sense.`

// The Content-Security-Policy of the dashboard, whose pages have inline scripts and inline styles.
const policy = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline'",
  "style-src 'self' 'unsafe-inline' data:",
  "img-src 'self' data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const fontAddress = /https:\/\/fonts\.(?:googleapis|gstatic)\.com[^"'`<>\s\\]*/g
const emptyStylesheet = 'data:text/css,'

await runCommandLine({ usage, options: {}, words: { least: 0, most: 1 } }, async ({ words: [port = '3001'] }) => {
  if (!/^[0-9]{1,5}$/.test(port) || Number(port) > 65535) throw new UsageError('PORT is a number from 0 to 65535')
  const given = databaseUrlBesideService(readConfig())
  await chooseTls(given)
  const url = databaseAddress(given)
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  const counting = await countQueues(url)
  try {
    await serveDashboard({ url, port: Number(port), until: stopped })
  } finally {
    await counting.stop({ graceful: false })
  }
})

async function serveDashboard(input: { url: string; port: number; until: Promise<unknown> }): Promise<void> {
  // React renders for production only if NODE_ENV is set before React is loaded.
  process.env['NODE_ENV'] = 'production'
  const { createDashboardHandler } = await import('@pg-boss/dashboard/handler')
  const handle = createDashboardHandler({ databases: [{ url: input.url }], auth: true })
  const fetch = async (request: Request) => withoutForeignHosts(await handle(request))
  // The dashboard has no accounts, so HOST of the service must not open it to others.
  const server = serve({ fetch, hostname: '127.0.0.1', port: input.port })
  try {
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : input.port
    process.stdout.write(`Dashboard of the job queues on http://localhost:${port}; Ctrl-C stops it.\n`)
    await input.until
  } finally {
    server.close()
    if ('closeAllConnections' in server) server.closeAllConnections()
    await handle.close()
  }
}

// pg-boss's supervision makes the counts that the dashboard shows. Workers run without supervision, so the dashboard
// runs the supervision.
async function countQueues(connectionString: string): Promise<PgBoss> {
  const intervals = { superviseIntervalSeconds: 5, monitorIntervalSeconds: 5 }
  const boss = new PgBoss({ connectionString, max: 1, migrate: false, schedule: false, reindex: false, ...intervals })
  boss.on('error', (error) => process.stderr.write(`${error.message}\n`))
  await boss.start()
  return boss
}

/**
 * An answer of pg-boss's dashboard without its font, which comes from Google. The font's addresses are cut out of pages
 * and scripts, because no policy stops a browser from connecting to the host of a `preconnect`. The policy refuses all
 * other requests to foreign hosts.
 */
async function withoutForeignHosts(answer: Response): Promise<Response> {
  const { status, statusText } = answer
  const headers = new Headers(answer.headers)
  headers.set('Content-Security-Policy', policy)
  if (answer.body === null || !isText(headers.get('content-type') ?? '')) {
    return new Response(answer.body, { status, statusText, headers })
  }
  const text = (await answer.text()).replaceAll(fontAddress, emptyStylesheet)
  headers.delete('Content-Length')
  return new Response(text, { status, statusText, headers })
}

function isText(contentType: string): boolean {
  return /^text\/(?:html|javascript|x-script)|^application\/javascript/.test(contentType)
}
