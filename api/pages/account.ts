import { page } from './page.ts'

/** The account is its tokens; the short address leads there. */
export const accountIndexPage = page({
  path: '/account',
  async get() {
    return { location: '/account/tokens' }
  },
})
