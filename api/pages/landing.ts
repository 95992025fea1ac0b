import { accountOf } from './browser.ts'
import { page } from './page.ts'
import { view } from './render.ts'

const landingView = view<{ apiBase: string }>('landing')

/** The start page: what runs here, and where to go from it. */
export const landingPage = page({
  path: '/',
  async get(call) {
    const account = await accountOf(call)
    const apiBase = `${call.service.config.PUBLIC_ORIGIN}/api/v1`
    return { html: landingView({ title: 'Knowledge base', apiBase, indexed: true, ...(account && { account }) }) }
  },
})
