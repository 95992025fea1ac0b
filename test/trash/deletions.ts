import type { Client } from '../support/client.ts'
import { ok } from '../support/translations.ts'
import type { Everything } from './everything.ts'

/** Deletes a part of a workspace in which everything exists. */
export type Deletion = (client: Client, everything: Everything) => Promise<void>

const remove = (path: (everything: Everything) => string): Deletion => {
  return async (client, everything) => void ok(await client.delete(path(everything)))
}

/** Deletions of documents of the zoo, by what they delete. */
export const ofDocuments: Record<string, Deletion> = {
  'a translation': remove(({ documents }) => `/documents/${documents.troupeau}`),
  'a translation whose source is elsewhere': remove(({ documents }) => `/documents/${documents.equipage}`),
  'the source of a set': remove(({ documents }) => `/documents/${documents.herd}`),
  'a document that was edited live': remove(({ documents }) => `/documents/${documents.lakes}`),
  'a document with everything': remove(({ documents }) => `/documents/${documents.elephants}`),
}

/** Deletions of folders of the zoo and of the zoo, from the smallest to the largest, by what they delete. */
export const ofPlaces: Record<string, Deletion> = {
  'a folder in a folder': remove(({ folders }) => `/folders/${folders.large}`),
  'a folder with a folder': remove(({ folders }) => `/folders/${folders.mammals}`),
  'a knowledge base': remove(({ zoo }) => `/knowledge-bases/${zoo}?confirm_id=${zoo}`),
}
