import { signInLinkMinutes, signInLinkPath, useSignInLink } from '../../../shared/auth/sign-in-links.ts'
import { addressOf } from '../../http/requesters.ts'
import { type Browser, browserOf, requireOwnForm, signIn } from '../browser.ts'
import { pageHeaders } from '../headers.ts'
import { type PageAnswer, type PageCall, page } from '../page.ts'
import { view } from '../render.ts'
import { scriptPath } from '../scripts/bundle.ts'

const signInLinkView = view<{
  csrfToken: string
  script: string
  failed: boolean
  minutes: number
  signedInAs: string | null
}>('sign-in-link')

/**
 * The page of a sign-in link (api/guide/authentication.md#sign-in). A script moves the code of the link into the form;
 * without scripts, the person pastes the link. Only sending the form signs in.
 */
export const signInLinkPage = page({
  path: signInLinkPath,
  async get(call) {
    return show({ browser: await browserOf(call), failed: false })
  },
  async post(call) {
    const browser = await browserOf(call)
    const form = await call.form()
    requireOwnForm(call, { browser, form })
    const { database: db, config, throttles } = call.service
    const userId = await throttles.guess({ 'sign-in-address': addressOf(call.request) }, () =>
      useSignInLink({ db, secret: config.SESSION_SECRET }, form.field('code')),
    )
    if (userId === null) return refused(call, browser)
    await signIn(call, { browser, userId })
    return { location: '/' }
  },
})

// Answers a code that does not work. Like a wrong password, it counts against the rate limit of the address.
async function refused(call: PageCall, browser: Browser): Promise<PageAnswer> {
  await call.service.rateLimiter.consume('ip', addressOf(call.request))
  call.service.log.info({ request_id: call.response.locals['requestId'] }, 'sign-in link refused')
  return { status: 401, ...(await show({ browser, failed: true })) }
}

async function show({ browser, failed }: { browser: Browser; failed: boolean }) {
  const script = await scriptPath('sign-in-link')
  const { csrfToken, signedIn } = browser
  const signedInAs = signedIn?.email ?? null
  return {
    html: signInLinkView({
      title: 'Sign in with a link',
      csrfToken,
      script,
      failed,
      minutes: signInLinkMinutes,
      signedInAs,
    }),
    headers: pageHeaders({ 'script-src': "'self'" }),
  }
}
