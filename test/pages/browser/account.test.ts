import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createSignInLink } from '../../../shared/auth/sign-in-links.ts'
import { Client, type Reply } from '../../support/client.ts'
import { onlyLong } from '../../support/run-options.ts'
import { startTestService, type TestService } from '../../support/service.ts'
import { t } from '../../support/tap.ts'
import { signedInVisitor } from '../../support/visitor.ts'
import { violationsOf } from './axe.ts'
import { noChromium, startChromium } from './chromium.ts'

const ada = { email: 'ada@example.test', password: 'correct horse' }

t.test(
  'without scripts, a person makes a token, a program uses it, and the person revokes it',
  { skip: noChromium },
  async (t) => {
    const service = await startTestService(t, { SSE_HEARTBEAT_SECONDS: '1' })
    await service.signUp(ada)
    const { page, complaints } = await openPage(await startChromium(t), { javaScriptEnabled: false })
    await page.goto(`${service.origin}/account/tokens`)
    await signIn(page)
    t.equal(new URL(page.url()).pathname, '/account/tokens')
    await page.getByLabel('Name', { exact: true }).fill('Nightly “backup” <script>alert(1)</script>')
    await page.getByLabel('Read and write').check()
    await page.getByLabel('Expires').selectOption({ label: 'In 30 days' })
    await page.getByRole('button', { name: 'Create token' }).click()
    const token = (await page.getByLabel('The new token').textContent()) ?? ''
    const program = new Client({ origin: service.origin, token })
    t.equal((await program.post('/knowledge-bases', { name: 'From the program' })).status, 201)
    const headers = { authorization: `Bearer ${token}` }
    const stream = await fetch(`${service.origin}/api/v1/events`, { headers })
    t.equal(stream.status, 200)
    await page.goto(`${service.origin}/account/tokens`)
    t.notMatch(await page.content(), token, 'it is shown once')
    const row = page.getByRole('row', { name: 'Nightly' })
    t.match(await row.textContent(), /Read and write\s*\d{4}-\d\d-\d\d \d\d:\d\d UTC/, 'when it was last used')
    await row.getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    t.match(await stream.text(), 'event: auth.revoked', 'and the stream of the program ends')
    t.match(await program.get('/me'), { status: 401, body: { error: { code: 'token_revoked' } } })
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/login')
    t.same(complaints, [])
  },
)

t.test('a device polls while its user signs in and lets it read', { skip: noChromium || onlyLong.skip }, async (t) => {
  const service = await startTestService(t, { DEVICE_POLL_INTERVAL_SECONDS: '1' })
  await service.signUp(ada)
  const device = new Client({ origin: service.origin })
  const { data: code } = (await device.post('/auth/device/code', { client_name: 'kb-cli' })).body
  const polled = pollToTheEnd(device, code)
  const { page, complaints } = await openPage(await startChromium(t))
  await page.goto(service.origin + pathOf(code.verification_uri_complete))
  await signIn(page)
  t.equal(await page.locator('.user-code').textContent(), code.user_code)
  // By keyboard alone: the first button of the form approves, the second approves reading only.
  await page.getByRole('button', { name: 'Approve', exact: true }).focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('status').waitFor()
  t.match(await page.getByRole('status').textContent(), 'may now read in your name')
  const { replies, token } = await polled
  t.ok(replies.every(({ body }) => body.error.code === 'authorization_pending'))
  const program = new Client({ origin: service.origin, token })
  t.match((await program.get('/me')).body.data, { user: { email: ada.email }, scopes: /:read/ })
  t.equal((await program.post('/knowledge-bases', { name: 'x' })).status, 403)
  await page.getByRole('link', { name: 'API tokens' }).first().click()
  const row = page.getByRole('row', { name: 'kb-cli' })
  await row.getByRole('button').click()
  await row.waitFor({ state: 'detached' })
  t.equal((await program.get('/me')).status, 401)
  t.same(complaints, [])
})

t.test('a sign-in link takes one press of a key, and its code leaves the address', { skip: noChromium }, async (t) => {
  const service = await startTestService(t)
  await service.signUp(ada)
  const { database: db, config } = service
  const browser = await startChromium(t)
  for (const javaScriptEnabled of [true, false]) {
    const made = await createSignInLink({ db, config }, ada.email)
    const link = (made?.sign_in_link ?? '').replace(config.PUBLIC_ORIGIN, service.origin)
    const { page, complaints } = await openPage(browser, { javaScriptEnabled })
    await page.goto(link)
    if (javaScriptEnabled) {
      await page.waitForURL(`${service.origin}/login/link`)
      t.equal(await page.getByLabel('Link', { exact: true }).isVisible(), false)
      t.same(await violationsOf(page), [])
    } else await page.getByLabel('Link', { exact: true }).fill(link)
    await page.keyboard.press('Enter')
    await page.getByText(`Signed in as ${ada.email}`).waitFor()
    t.equal(page.url(), `${service.origin}/`)
    t.same(complaints, [])
  }
})

t.test(
  'every page is accessible, in light and in dark, and fits a telephone',
  { ...onlyLong, skip: noChromium || onlyLong.skip },
  async (t) => {
    const service = await startTestService(t, { OIDC_ISSUER: 'http://localhost:1', OIDC_CLIENT_ID: 'documents' })
    const { user_id } = await service.signUp({ email: ada.email })
    const session = (await signedInVisitor(service, { userId: user_id })).cookies.get('svc_session') ?? ''
    const browser = await startChromium(t)
    for (const [colorScheme, width] of [
      ['light', 1200],
      ['dark', 1200],
      ['light', 360],
    ] as const) {
      const { page } = await openPage(browser, { colorScheme, viewport: { width, height: 800 } })
      const check = async (name: string) => {
        await page.waitForLoadState()
        if (width > 360) t.same(await violationsOf(page), [], `${name}, ${colorScheme}`)
        const overflow = await page.evaluate(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        t.equal(overflow, 0, `${name} fits ${width} pixels`)
      }
      await page.goto(`${service.origin}/login`)
      await check('sign-in')
      await page.goto(`${service.origin}/login/link`)
      await check('sign-in by a link')
      await page.goto(`${service.origin}/account/nowhere`)
      await check('a page that is missing')
      await page.context().addCookies([{ name: 'svc_session', value: session, url: service.origin }])
      for (const step of stepsOf(service, page)) await check(await step())
      await page.context().close()
    }
  },
)

// Each opens a page and returns the name of this page.
function stepsOf(service: TestService, page: Page): (() => Promise<string>)[] {
  const open = async (path: string) => void (await page.goto(service.origin + path))
  return [
    async () => {
      await open('/account/tokens')
      return 'tokens'
    },
    async () => {
      await page.getByLabel('Name', { exact: true }).fill('W'.repeat(80))
      await page.getByRole('button', { name: 'Create token' }).click()
      await page.getByRole('status').waitFor()
      return 'a new token'
    },
    async () => {
      await open('/device')
      return 'a code to type'
    },
    async () => {
      await open('/device?user_code=nonsense')
      return 'a wrong code'
    },
    async () => {
      const client_name = 'W'.repeat(80)
      const { body } = await new Client({ origin: service.origin }).post('/auth/device/code', { client_name })
      await open(pathOf(body.data.verification_uri_complete))
      return 'a device to confirm'
    },
    async () => {
      await page.getByRole('button', { name: 'Deny' }).click()
      await page.getByRole('status').waitFor()
      return 'a device that was refused'
    },
  ]
}

/** A page, and the complaints of the browser about it: scripts that would run, policies that were violated. */
async function openPage(browser: Browser, options: BrowserContextOptions = {}) {
  const page = await (await browser.newContext(options)).newPage()
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  // Mere notes of the browser are no complaints, such as that a field was focused before the page focused it.
  page.on('console', (message) => message.type() === 'info' || complaints.push(message.text()))
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message())
    void dialog.dismiss()
  })
  return { page, complaints }
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('Email').fill(ada.email)
  await page.getByLabel('Password').fill(ada.password)
  await page.keyboard.press('Enter')
  await page.getByText(`Signed in as ${ada.email}`).waitFor()
}

// The service writes URLs of its public origin, at which the tests cannot reach it.
function pathOf(address: string): string {
  const url = new URL(address)
  return url.pathname + url.search
}

async function pollToTheEnd(device: Client, code: { device_code: string; interval: number }) {
  const replies: Reply[] = []
  for (;;) {
    const reply = await device.post('/auth/device/token', { device_code: code.device_code })
    if (reply.status === 200) return { replies, token: reply.body.data.access_token as string }
    replies.push(reply)
    if (reply.body.error.code !== 'authorization_pending') throw new Error(reply.text)
    await sleep(code.interval * 1000)
  }
}
