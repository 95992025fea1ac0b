import type { AccountCall } from '../account-page.ts'
import { pageMissing } from '../refusals.ts'

/** A folder, or the root of a knowledge base for `folderId` null. */
export type FolderAddress = { knowledgeBaseId: number; folderId: number | null }

/** The knowledge base, and the folder if any, that the path of a page names. Refuses with 404 what is no id. */
export function addressOf({ params }: AccountCall): FolderAddress {
  const { knowledgeBaseId, folderId } = params
  return { knowledgeBaseId: requireId(knowledgeBaseId), folderId: folderId === undefined ? null : requireId(folderId) }
}

/** The folder that a form or query names beside the path; null for an empty text. Refuses with 404 what is no id. */
export function folderIdOf(text: string): number | null {
  return text === '' ? null : requireId(text)
}

/** The path of the page of a folder or knowledge base. */
export function pathOf({ knowledgeBaseId, folderId }: FolderAddress): string {
  return folderId === null ? `/kb/${knowledgeBaseId}` : `/kb/${knowledgeBaseId}/folders/${folderId}`
}

function requireId(text: string | undefined): number {
  const id = Number(text)
  if (!/^[1-9][0-9]{0,15}$/.test(text ?? '') || !Number.isSafeInteger(id)) throw pageMissing()
  return id
}
