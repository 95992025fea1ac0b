import type { AccountCall } from '../account-page.ts'
import { pageMissing } from '../refusals.ts'

/** The paths of a knowledge base and of a folder. */
export const folderPaths = ['/kb/{knowledgeBaseId}', '/kb/{knowledgeBaseId}/folders/{folderId}'] as const

/** A folder, or the root of a knowledge base for `folderId` null. */
export type FolderAddress = { knowledgeBaseId: number; folderId: number | null }

/** The knowledge base, and the folder if any, that the path of a page names. Refuses with 404 what is no id. */
export function addressOf({ params }: Pick<AccountCall, 'params'>): FolderAddress {
  const { knowledgeBaseId, folderId } = params
  return { knowledgeBaseId: idOf(knowledgeBaseId), folderId: folderId === undefined ? null : idOf(folderId) }
}

/** The id of a knowledge base or folder in a path, a query or a form. Refuses with 404 what is no id. */
export function idOf(text: string | undefined): number {
  const id = idIn(text)
  if (id === null) throw pageMissing()
  return id
}

/** The id or number that a text is, in decimal digits; null for every other text. */
export function idIn(text: string | null | undefined): number | null {
  const id = Number(text)
  return /^[1-9][0-9]{0,15}$/.test(text ?? '') && Number.isSafeInteger(id) ? id : null
}

/** The path of the page of a folder or knowledge base. */
export function pathOf({ knowledgeBaseId, folderId }: FolderAddress): string {
  return folderId === null ? `/kb/${knowledgeBaseId}` : `/kb/${knowledgeBaseId}/folders/${folderId}`
}
