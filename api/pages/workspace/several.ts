import { visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { titlesOf } from '../../../shared/documents/queries.ts'
import { mostNamedDocuments } from '../../../shared/documents/schema.ts'
import { deleteSeveral, moveDocuments } from '../../../shared/documents/several.ts'
import { type AccountCall, type AccountFormCall, accountPage } from '../account-page.ts'
import { actionOf, FormRefusal } from '../form-refusal.ts'
import type { PageAnswer } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { PageRefusal, pageMissing } from '../refusals.ts'
import { view } from '../render.ts'
import { type FolderAddress, folderPaths, pathOf } from './addresses.ts'
import { destinationIn, destinationOf, destinationStep, moveProblemOf, type Step } from './destinations.ts'
import { requireWritableFolder } from './folders.ts'
import type { Place } from './place.ts'
import { type Problem, problemOf } from './problems.ts'

type Titled = { id: string; title: string; version: string }

const severalView = view<{
  csrfToken: string
  place: Place
  /** The path of the folder in which the documents were chosen. */
  path: string
  documents: readonly Titled[]
  /** The step on the way to a destination; null when the documents are to be deleted. */
  step: Step | null
  /** How many days the trash keeps what is deleted; 0 when there is no trash. */
  days: number
  problem: string | null
}>('several')

type Asked = {
  ids: readonly string[]
  isDeletion: boolean
  destination?: FolderAddress | null
  problem: Problem | null
}

/** Asks what to do with documents that were chosen in a folder, and moves or deletes all of them or none. */
export const severalPages = folderPaths.map((path) =>
  accountPage({
    path: `${path}/several`,
    async get(call) {
      const ids = [...new Set(call.query.getAll('document'))]
      if (ids.length > mostNamedDocuments) throw tooMany()
      const isDeletion = call.query.get('do') === 'delete'
      return show(call, { ids, isDeletion, problem: null })
    },
    async post(call) {
      const ids = [...new Set(call.submitted.field('documents').split(' '))]
      if (ids.length > mostNamedDocuments) throw tooMany()
      return actionOf(actions, call.submitted.field('action'))(call, ids)
    },
  }),
)

const actions = new Map([
  ['move', move],
  ['delete', remove],
])

async function move(call: AccountFormCall, ids: readonly string[]): Promise<PageAnswer> {
  const destination = destinationIn(call.submitted)
  const { knowledgeBaseId: knowledge_base_id, folderId: folder_id } = destination
  try {
    await pageWrite(call, async (write) => {
      await moveDocuments(write, { documentIds: ids, to: { knowledge_base_id, folder_id } })
      await recordPageWrite(write.tx, { call, action: 'moveDocuments', documentIds: ids })
    })
  } catch (error) {
    return show(call, { ids, isDeletion: false, destination, problem: moveProblemOf(error) })
  }
  return { location: pathOf(destination) }
}

async function remove(call: AccountFormCall, ids: readonly string[]): Promise<PageAnswer> {
  const { address } = await requireWritableFolder(call)
  const seen = new Set(call.submitted.field('versions').split(' '))
  const guard = (documents: readonly Titled[]) => {
    const changed = documents.find(({ id, version }) => !seen.has(`${id}=${version}`))
    if (changed !== undefined) throw new FormRefusal('version_conflict', changedMeanwhile(changed.title))
  }
  try {
    await pageWrite(call, async (write) => {
      await deleteSeveral(write, { documentIds: ids, guard })
      await recordPageWrite(write.tx, { call, action: 'deleteDocuments', documentIds: ids })
    })
  } catch (error) {
    return show(call, { ids, isDeletion: true, problem: problemOf(error) })
  }
  return { location: `${pathOf(address)}?deleted_documents=${ids.length}` }
}

async function show(call: AccountCall, { ids, isDeletion, destination, problem }: Asked): Promise<PageAnswer> {
  const { service, caller, account, csrfToken, query } = call
  const { workspaceId, address, place } = await requireWritableFolder(call)
  const path = pathOf(address)
  const of = { documentIds: ids, workspaceIds: visibleWorkspaces(caller) }
  const found = new Map((await titlesOf(service.database, of)).map((document) => [document.id, document]))
  const documents = ids.flatMap((id) => found.get(id) ?? [])
  if (documents.length === 0 && ids.length > 0) throw pageMissing()
  if (documents.length === 0) return { location: `${path}?select=` }
  const kept = documents.map(({ id }) => `&document=${encodeURIComponent(id)}`).join('')
  const moving = { workspaceId, parent: address, folderId: null, kept }
  const to = destination === undefined ? destinationOf(query, address) : destination
  const html = severalView({
    title: isDeletion ? 'Delete documents' : 'Move documents',
    account,
    csrfToken,
    place,
    path,
    documents,
    step: isDeletion ? null : await destinationStep(call, { moving, destination: to }),
    days: service.config.TRASH_RETENTION_DAYS,
    problem: problem?.message ?? null,
  })
  return { status: problem?.status ?? 200, html }
}

function changedMeanwhile(title: string): string {
  return `Somebody has changed “${title}” since you chose it, so nothing was deleted. Look at it before you delete it.`
}

function tooMany(): PageRefusal {
  const advice = `At most ${mostNamedDocuments} documents can be moved or deleted at once.`
  return new PageRefusal(400, { heading: 'Too many documents', advice })
}
