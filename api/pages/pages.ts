import { accountIndexPage } from './account.ts'
import { assetPage } from './assets.ts'
import { devicePage } from './device.ts'
import { guideChapterPage, guidePage } from './guide/pages.ts'
import { landingPage } from './landing.ts'
import { loginPage } from './login.ts'
import { logoutPage } from './logout.ts'
import { openIdCallbackPage, openIdPage } from './openid.ts'
import type { Page } from './page.ts'
import { apiDocsPage } from './reference/page.ts'
import { shareAttachmentPage } from './share/attachment.ts'
import { sharePage } from './share/pages.ts'
import { revokeTokenPage, tokensPage } from './tokens.ts'

/** Every page, in no particular order; a new one is added here. */
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
]
