import { longestTitle } from '../../../shared/documents/schema.ts'
import { updateDocument } from '../../../shared/documents/update.ts'
import { duplicateDocument } from '../../../shared/duplicates/duplicate.ts'
import { lockWritableFolder } from '../../../shared/knowledge-bases/folders.ts'
import { lockWritableKnowledgeBase, renameKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import { longestName } from '../../../shared/knowledge-bases/schema.ts'
import { updateFolder } from '../../../shared/structure/folders.ts'
import type { WriteContext } from '../../http/write-context.ts'
import { type AccountCall, accountPage } from '../account-page.ts'
import { FormRefusal } from '../form-refusal.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { view } from '../render.ts'
import { writeOnce } from '../write-once.ts'
import { type Item, itemPaths, parentPath, requireItem } from './items.ts'
import { problemOfName, problemOfTitle } from './names.ts'
import { problemOf } from './problems.ts'

type Rename = { name: string; problem: string | null }

const organiseView = view<{
  csrfToken: string
  item: Item
  back: string
  rename: Rename
  /** The most characters of the title or name. */
  longest: number
}>('organise')

/** What can be done with a document, folder or knowledge base: rename it here, and move, duplicate or delete it. */
export const organisePages = itemPaths.map((path) =>
  accountPage({
    path: `${path}/organise`,
    async get(call) {
      const item = await requireItem(call)
      return { html: show(call, { item, rename: { name: item.name, problem: null } }) }
    },
    async post(call) {
      const item = await requireItem(call)
      const [name, was] = [call.submitted.field('name').trim(), call.submitted.field('was')]
      const refuse = (status: number, problem: string) => ({
        status,
        html: show(call, { item, rename: { name, problem } }),
      })
      const problem = item.kind === 'document' ? problemOfTitle(name) : problemOfName(name)
      if (problem !== null) return refuse(400, problem)
      try {
        await pageWrite(call, (write) => renameItem(call, { write, item, name, was }))
      } catch (error) {
        const { status, message } = problemOf(error)
        return refuse(status, message)
      }
      return { location: item.kind === 'base' ? item.path : parentPath(item) }
    },
  }),
)

/** Makes a copy of a document beside it, and opens the copy. */
export const duplicatePage = accountPage({
  path: '/d/{documentId}/duplicate',
  async get(call) {
    return { location: `${(await requireItem(call)).path}/organise` }
  },
  async post(call) {
    const item = await requireItem(call)
    const { database, files } = call.service
    try {
      const location = await writeOnce(call, { form: call.submitted }, async (write) => {
        const request = { documentId: item.id, caller: write.caller, title: undefined, to: {} }
        const { id } = await duplicateDocument({ ...write, database, files }, request)
        await recordPageWrite(write.tx, { call, action: 'duplicateDocument', documentIds: [id, item.id] })
        return `/d/${id}`
      })
      return { location }
    } catch (error) {
      const { status, message } = problemOf(error)
      return { status, html: show(call, { item, rename: { name: item.name, problem: message } }) }
    }
  },
})

function show(call: AccountCall, { item, rename }: { item: Item; rename: Rename }): string {
  const { account, csrfToken } = call
  const longest = item.kind === 'document' ? longestTitle : longestName
  const back = parentPath(item)
  return organiseView({ title: `Organise ${item.name}`, account, csrfToken, item, back, rename, longest })
}

type Renaming = { write: WriteContext; item: Item; name: string; was: string }

// Gives the item another name, unless it is no longer called what the form says that it was called.
async function renameItem(call: AccountCall, { write, item, name, was }: Renaming): Promise<void> {
  const { tx, caller } = write
  const requireName = (current: string) => {
    if (current !== was && current !== name) {
      throw new FormRefusal(
        'version_conflict',
        `Somebody has renamed it to “${current}” meanwhile. Send the form again to rename it anyway.`,
      )
    }
  }
  if (item.kind === 'document') {
    const guard = async ({ title }: { title: string }) => requireName(title)
    await updateDocument(write, { documentId: item.id, caller, metadata: { title: name }, guard })
    await recordPageWrite(tx, { call, action: 'updateDocument', documentIds: [item.id] })
  } else if (item.kind === 'folder') {
    const id = Number(item.id)
    requireName((await lockWritableFolder(tx, { caller, id })).name)
    await updateFolder(write, { id, update: { name } })
    await recordPageWrite(tx, { call, action: 'updateFolder', place: { folderId: id } })
  } else {
    const id = Number(item.id)
    const { workspaceId, name: current } = await lockWritableKnowledgeBase(tx, { caller, id })
    requireName(current)
    await renameKnowledgeBase(tx, { workspaceId, id, name })
    await recordPageWrite(tx, { call, action: 'renameKnowledgeBase', place: { knowledgeBaseId: id } })
  }
}
