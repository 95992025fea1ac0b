import { browserOf, refuseOtherSites, signOut } from './browser.ts'
import { page } from './page.ts'

/**
 * Ends the session (decisions C, 98). It takes no token of a form: the cookie is not sent with the forms of other sites,
 * and whoever sends this by mistake can sign in again.
 */
export const logoutPage = page({
  path: '/logout',
  async post(call) {
    refuseOtherSites(call)
    await signOut(call, await browserOf(call))
    return { location: '/login' }
  },
})
