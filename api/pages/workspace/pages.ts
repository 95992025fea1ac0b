import type { Page } from '../page.ts'
import { deletePages } from './delete.ts'
import { exportPage } from './export.ts'
import { folderPages, newFolderPages } from './folder.ts'
import { homePage, newKnowledgeBasePage } from './home.ts'
import { movePages } from './move.ts'
import { newDocumentPages } from './new-document.ts'
import { orderPages } from './order.ts'
import { duplicatePage, organisePages } from './organise.ts'
import { severalPages } from './several.ts'
import { changeTagPage, tagsPage } from './tags.ts'
import { purgePage, restorePage, trashPage } from './trash.ts'
import { uploadPages } from './upload.ts'

/** The pages on which people find, create and organise knowledge bases, folders and documents. */
export const workspacePages: readonly Page[] = [
  homePage,
  newKnowledgeBasePage,
  ...folderPages,
  ...newFolderPages,
  ...newDocumentPages,
  ...orderPages,
  ...organisePages,
  duplicatePage,
  ...movePages,
  ...deletePages,
  tagsPage,
  changeTagPage,
  ...severalPages,
  trashPage,
  restorePage,
  purgePage,
  ...uploadPages,
  exportPage,
]
