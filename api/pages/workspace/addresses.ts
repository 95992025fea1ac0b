import type { AccountCall } from '../account-page.ts'
import { pageMissing } from '../refusals.ts'

/** The id of the knowledge base that the path of a page names. Refuses with 404 what is no id. */
export function knowledgeBaseIdOf({ params }: AccountCall): number {
  return idOf(params['knowledgeBaseId'])
}

/** The id of the folder that the path of a page names. Refuses with 404 what is no id. */
export function folderIdOf({ params }: AccountCall): number {
  return idOf(params['folderId'])
}

function idOf(text: string | undefined): number {
  const id = Number(text)
  if (!/^[1-9][0-9]{0,15}$/.test(text ?? '') || !Number.isSafeInteger(id)) throw pageMissing()
  return id
}
