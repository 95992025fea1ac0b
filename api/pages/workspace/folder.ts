import { tagLimits } from '../../../shared/documents/metadata.ts'
import { firstTags } from '../../../shared/documents/tags.ts'
import { createFolder } from '../../../shared/structure/folders.ts'
import { type AccountCall, type AccountFormCall, accountPage } from '../account-page.ts'
import { pageHeaders } from '../headers.ts'
import type { PageAnswer } from '../page.ts'
import { recordPageWrite } from '../page-writes.ts'
import { PageRefusal } from '../refusals.ts'
import { view } from '../render.ts'
import { scriptPath } from '../scripts/bundle.ts'
import { writeOnce } from '../write-once.ts'
import { addressOf, folderPaths, pathOf } from './addresses.ts'
import { type FolderTree, folderTree } from './folder-tree.ts'
import { requireFolder } from './folders.ts'
import { arrangedPage, changedPage, type ListedPage } from './listed.ts'
import { problemOfName } from './names.ts'
import { type Notice, noticeOf } from './notices.ts'
import type { Place } from './place.ts'
import { type Problem, problemOf } from './problems.ts'

// The most tags of a knowledge base that its page offers as filters.
const offeredTags = 40

type NewFolder = { name: string; problem: string | null }

const folderView = view<{
  csrfToken: string
  place: Place
  /** The path of this page. */
  path: string
  name: string
  isRoot: boolean
  mayWrite: boolean
  /** The list of what people arranged, to read, to arrange or to choose from; or the documents that changed last. */
  order: 'arranged' | 'arranging' | 'selecting' | 'changed'
  tags: readonly string[]
  offered: readonly string[]
  tree: FolderTree
  list: ListedPage & { isFirst: boolean; cursor: string }
  newFolder: NewFolder
  /** Why the items could not be arranged; null when nothing was refused. */
  problem: string | null
  /** The item that was moved a moment ago, and the control that moved it. */
  moved: string
  notice: Notice | null
  /** The script with which items are arranged by drag; null in other lists. */
  script: string | null
}>('folder')

/** What is directly in a knowledge base or a folder, as people arranged it. */
export const folderPages = folderPaths.map((path) => accountPage({ path, get: answer }))

/** Creates a folder in a knowledge base or a folder, and goes to it. */
export const newFolderPages = folderPaths.map((path) =>
  accountPage({ path: `${path}/folders`, get: async (call) => ({ location: pathOf(addressOf(call)) }), post: create }),
)

async function create(call: AccountFormCall): Promise<PageAnswer> {
  const address = addressOf(call)
  const name = call.submitted.field('name').trim()
  const refuse = async ({ status, message }: Problem) => {
    const shown = await show(call, { name, problem: message })
    return 'html' in shown ? { ...shown, status } : shown
  }
  const problem = problemOfName(name)
  if (problem !== null) return refuse({ status: 400, message: problem })
  const { knowledgeBaseId, folderId } = address
  const written = writeOnce(call, { form: call.submitted }, async (write) => {
    const location = { knowledge_base_id: knowledgeBaseId, parent_id: folderId }
    const folder = await createFolder(write, { name, ...location })
    await recordPageWrite(write.tx, { call, action: 'createFolder', place: { workspaceId: folder.workspace_id } })
    return pathOf({ knowledgeBaseId, folderId: folder.id })
  })
  return written.then((location) => ({ location })).catch((error: unknown) => refuse(problemOf(error)))
}

async function answer(call: AccountCall): Promise<PageAnswer> {
  return show(call, { name: '', problem: null })
}

/** Shows the list again after a form about its items was refused. The query is the query of the list. */
export async function listAgain(call: AccountCall, { status, message }: Problem): Promise<PageAnswer> {
  const shown = await show(call, { name: '', problem: null }, message)
  return 'html' in shown ? { ...shown, status } : shown
}

function tooManyTags(): PageRefusal {
  const advice = `Documents can be looked for with at most ${tagLimits.tags} tags at once.`
  return new PageRefusal(400, { heading: 'Too many tags', advice })
}

type Shown = { html: string; headers: Record<string, string> } | { location: string }

async function show(call: AccountCall, newFolder: NewFolder, problem: string | null = null): Promise<Shown> {
  const { query } = call
  const { database: db } = call.service
  const asked = addressOf(call)
  const { workspaceId, name, address, place, mayWrite } = await requireFolder(call)
  if (address.knowledgeBaseId !== asked.knowledgeBaseId) return { location: pathOf(address) }
  const isRoot = address.folderId === null
  const tags = isRoot ? query.getAll('tag') : []
  if (tags.length > tagLimits.tags) throw tooManyTags()
  const isChanged = tags.length > 0 || query.get('sort') === 'changed'
  const cursor = query.get('cursor') ?? undefined
  const isArranging = !isChanged && mayWrite && query.has('arrange')
  const isSelecting = !isChanged && !isArranging && mayWrite && query.has('select')
  const source = { db, workspaceId, address, cursor }
  const [list, tree, offered, notice, script] = await Promise.all([
    isChanged ? changedPage({ ...source, tags }) : arrangedPage(source),
    folderTree(db, { workspaceId, place }),
    isRoot ? firstTags(db, { workspaceId, id: address.knowledgeBaseId, limit: offeredTags }) : [],
    noticeOf(call, address),
    isArranging ? scriptPath('workspace') : null,
  ])
  return {
    html: folderView({
      title: name,
      account: call.account,
      csrfToken: call.csrfToken,
      // The last folder of the way is this folder, which the heading names.
      place: { ...place, folders: place.folders.slice(0, -1) },
      path: pathOf(address),
      name,
      isRoot,
      mayWrite,
      order: isChanged ? 'changed' : isArranging ? 'arranging' : isSelecting ? 'selecting' : 'arranged',
      tags,
      offered,
      tree,
      list: { ...list, isFirst: cursor === undefined, cursor: cursor ?? '' },
      newFolder,
      problem,
      moved: query.get('moved') ?? '',
      notice,
      script,
    }),
    headers: pageHeaders(isArranging ? { 'script-src': "'self'", 'connect-src': "'self'" } : {}),
  }
}
