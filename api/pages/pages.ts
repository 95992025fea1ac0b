import { assetPage } from './assets.ts'
import { accountOf } from './browser.ts'
import { devicePage } from './device.ts'
import { diagramsPage } from './diagrams/pages.ts'
import { formulasPage, markdownPage } from './editor/conversions.ts'
import { membersPage } from './editor/members.ts'
import { editorAttachmentPage, editorPage, ticketPage } from './editor/pages.ts'
import { editorUploadPage } from './editor/uploads.ts'
import { guideChapterPage, guidePage } from './guide/pages.ts'
import { loginPage, logoutPage } from './login.ts'
import { openIdCallbackPage, openIdPage } from './openid.ts'
import { type Page, page } from './page.ts'
import { apiDocsPage } from './reference/pages.ts'
import { view } from './render.ts'
import { scriptPage } from './scripts/pages.ts'
import { shareAttachmentPage, sharePage } from './share/pages.ts'
import { accountIndexPage, revokeTokenPage, tokensPage } from './tokens.ts'

const landingView = view<{ apiBase: string }>('landing')

// The start page: it says which service this is and where to go.
const landingPage = page({
  path: '/',
  async get(call) {
    const account = await accountOf(call)
    const apiBase = `${call.service.config.PUBLIC_ORIGIN}/api/v1`
    return { html: landingView({ title: 'Knowledge base', apiBase, indexed: true, ...(account && { account }) }) }
  },
})

/** Every page, in no particular order. A new page is added here. */
export const pages: readonly Page[] = [
  assetPage,
  landingPage,
  apiDocsPage,
  guidePage,
  guideChapterPage,
  sharePage,
  shareAttachmentPage,
  loginPage,
  logoutPage,
  openIdPage,
  openIdCallbackPage,
  accountIndexPage,
  tokensPage,
  revokeTokenPage,
  devicePage,
  editorPage,
  ticketPage,
  editorAttachmentPage,
  editorUploadPage,
  membersPage,
  scriptPage,
  markdownPage,
  formulasPage,
  diagramsPage,
]
