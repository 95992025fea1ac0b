import { assetPage } from './assets.ts'
import { devicePage } from './device.ts'
import { diagramsPage } from './diagrams/pages.ts'
import { formulasPage, markdownPage } from './editor/conversions.ts'
import { membersPage } from './editor/members.ts'
import { editorAttachmentPage, editorPage, liveStatePage, ticketPage } from './editor/pages.ts'
import { titlePage } from './editor/title.ts'
import { editorUploadPage } from './editor/uploads.ts'
import { guideChapterPage, guidePage } from './guide/pages.ts'
import { historyPage, versionPage } from './history/pages.ts'
import { restorePage } from './history/restore.ts'
import { loginPage, logoutPage } from './login.ts'
import { oauthConsentPage } from './oauth-consent.ts'
import { revokeGrantPage } from './oauth-grants.ts'
import { openIdCallbackPage, openIdPage } from './openid.ts'
import type { Page } from './page.ts'
import { conceptsPanel } from './panels/concepts.ts'
import { relationsPanel } from './panels/relations.ts'
import { summaryPanel } from './panels/summary.ts'
import { translationsPanel } from './panels/translations.ts'
import { propertiesPage } from './properties/pages.ts'
import { apiDocsPage } from './reference/pages.ts'
import { scriptPage } from './scripts/pages.ts'
import { searchPage } from './search/pages.ts'
import { shareAttachmentPage, sharePage } from './share/pages.ts'
import { sharingPage } from './sharing/pages.ts'
import { signInLinkPage } from './sign-in-link/pages.ts'
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
  signInLinkPage,
  logoutPage,
  openIdPage,
  openIdCallbackPage,
  oauthConsentPage,
  revokeGrantPage,
  accountIndexPage,
  tokensPage,
  revokeTokenPage,
  devicePage,
  searchPage,
  sharingPage,
  propertiesPage,
  editorPage,
  ticketPage,
  liveStatePage,
  titlePage,
  editorAttachmentPage,
  editorUploadPage,
  membersPage,
  scriptPage,
  markdownPage,
  formulasPage,
  summaryPanel,
  relationsPanel,
  conceptsPanel,
  translationsPanel,
  historyPage,
  versionPage,
  restorePage,
  diagramsPage,
]
