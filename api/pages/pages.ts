import { assetPage } from './assets.ts'
import { devicePage } from './device.ts'
import { formulasPage, markdownPage } from './editor/conversions.ts'
import { editorAttachmentPage, editorPage, ticketPage } from './editor/pages.ts'
import { editorUploadPage } from './editor/uploads.ts'
import { guideChapterPage, guidePage } from './guide/pages.ts'
import { loginPage, logoutPage } from './login.ts'
import { openIdCallbackPage, openIdPage } from './openid.ts'
import type { Page } from './page.ts'
import { apiDocsPage } from './reference/pages.ts'
import { scriptPage } from './scripts/pages.ts'
import { shareAttachmentPage, sharePage } from './share/pages.ts'
import { accountIndexPage, revokeTokenPage, tokensPage } from './tokens.ts'
import { workspacePages } from './workspace/pages.ts'

/** Every page, in no particular order. A new page is added here. */
export const pages: readonly Page[] = [
  assetPage,
  ...workspacePages,
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
  scriptPage,
  markdownPage,
  formulasPage,
]
