import { setTimeout as sleep } from 'node:timers/promises'
import { noChromium, startChromium } from '../../../pages/browser/chromium.ts'
import { createTestDatabase } from '../../../support/postgres.ts'
import { startProcess } from '../../../support/processes.ts'
import { t } from '../../../support/tap.ts'

t.test('the dashboard of the queues works and asks nothing of other hosts', { skip: noChromium }, async (t) => {
  const { url, drop } = await createTestDatabase()
  t.teardown(drop)
  const dashboard = startProcess('shared/start/dashboard.ts', { words: ['0'], env: { DATABASE_URL: url } })
  t.teardown(dashboard.stop)
  const origin = await addressIn(dashboard.output)
  const page = await (await startChromium(t)).newPage()
  const foreign: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) foreign.push(request.url())
  })
  page.on('console', (message) => complaints.push(message.text()))
  for (const path of ['/', '/jobs', '/schedules', '/warnings', '/send', '/queues/search.index', '/queues']) {
    t.equal((await page.goto(origin + path, { waitUntil: 'networkidle' }))?.status(), 200, path)
    const links: string[] = await page.evaluate('Array.from(document.querySelectorAll("link"), ({ href }) => href)')
    t.strictSame(
      links.filter((link) => link.startsWith('http') && !link.startsWith(origin)),
      [],
      'not even a connection is prepared',
    )
  }
  // A link that works without loading a page shows that the scripts of the dashboard have started.
  await page.evaluate('window.isSamePage = true')
  await page.getByRole('link', { name: 'Schedules', exact: true }).click()
  await page.waitForURL('**/schedules')
  t.equal(await page.evaluate('window.isSamePage'), true)
  t.strictSame([foreign, complaints], [[], []])
  t.equal(await dashboard.stop(), 0)
})

async function addressIn(output: () => string): Promise<string> {
  for (;;) {
    const [address] = output().match(/http:\/\/localhost:\d+/) ?? []
    if (address !== undefined) return address
    await sleep(25)
  }
}
