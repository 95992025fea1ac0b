import {
  type Caller,
  defaultWorkspace,
  isWriter,
  requireWriter,
  visibleWorkspaces,
} from '../../../shared/auth/caller.ts'
import { createDocument } from '../../../shared/body/create-document.ts'
import { documentPage } from '../../../shared/documents/list.ts'
import { createKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import { knowledgeBasePage, namesOfKnowledgeBases } from '../../../shared/knowledge-bases/queries.ts'
import { type AccountCall, type AccountFormCall, accountPage } from '../account-page.ts'
import { recordPageWrite } from '../page-writes.ts'
import { type Moment, momentOf, view } from '../render.ts'
import { writeOnce } from '../write-once.ts'
import { idIn } from './addresses.ts'
import { landing } from './landing.ts'
import { problemOfName, untitled } from './names.ts'
import { type Problem, problemOf } from './problems.ts'

// The most knowledge bases and the most changed documents that the page shows at once.
const basesAtOnce = 50
const changedAtOnce = 12

/** A knowledge base in the list of the workspace. `workspace` is null for people in one workspace alone. */
type ListedBase = {
  id: number
  name: string
  documents: number
  folders: number
  workspace: string | null
  mayWrite: boolean
}

type ChangedDocument = {
  id: string
  title: string
  base: { id: number; name: string } | null
  changed: Moment
}

type NewBase = { name: string; problem: string | null }

const homeView = view<{
  /** The name of the workspace; null for people in several workspaces or in none. */
  workspace: string | null
  csrfToken: string
  bases: ListedBase[]
  nextAfter: number | null
  isFirstPage: boolean
  changed: ChangedDocument[]
  /** Null for people who may not create a knowledge base. */
  newBase: NewBase | null
}>('workspace')

/** The workspace of the person who is signed in. Other people get the landing page. */
export const homePage = accountPage({
  path: '/',
  visitors: landing,
  async get(call) {
    return { html: await show(call, { name: '', problem: null }) }
  },
})

/**
 * Creates a knowledge base in the default workspace. With `first` in the form the knowledge base gets a document, which
 * opens in the editor.
 */
export const newKnowledgeBasePage = accountPage({
  path: '/kb',
  async get() {
    return { location: '/' }
  },
  async post(call) {
    const name = call.submitted.field('name').trim()
    const refuse = async ({ status, message }: Problem) => ({
      status,
      html: await show(call, { name, problem: message }),
    })
    const problem = problemOfName(name)
    if (problem !== null) return refuse({ status: 400, message: problem })
    const wantsDocument = call.submitted.field('first') !== ''
    return create(call, { name, wantsDocument }).catch((error: unknown) => refuse(problemOf(error)))
  },
})

async function create(call: AccountFormCall, { name, wantsDocument }: { name: string; wantsDocument: boolean }) {
  const location = await writeOnce(call, { form: call.submitted }, async (write) => {
    const { tx, caller } = write
    const workspaceId = defaultWorkspace(caller).workspace_id
    requireWriter(caller, workspaceId)
    const base = await createKnowledgeBase(write, { workspaceId, name, createdBy: caller.userId })
    await recordPageWrite(tx, { call, action: 'createKnowledgeBase', place: { workspaceId } })
    if (!wantsDocument) return `/kb/${base.id}`
    const { document } = await createDocument(write, {
      caller,
      document: { title: untitled, knowledge_base_id: base.id },
      content: () => undefined,
    })
    await recordPageWrite(tx, { call, action: 'createDocument', documentIds: [document.id] })
    return `/d/${document.id}`
  })
  return { location }
}

async function show(call: AccountCall, form: NewBase): Promise<string> {
  const { caller } = call
  const { database } = call.service
  const workspaceIds = visibleWorkspaces(caller)
  const after = idIn(call.query.get('after')) ?? 0
  const [rows, changed] = await Promise.all([
    knowledgeBasePage(database, { workspaceIds, after, limit: basesAtOnce }),
    after === 0 ? lastChanged(call, workspaceIds) : [],
  ])
  const bases = rows.slice(0, basesAtOnce)
  const [only, ...others] = caller.memberships
  const nameOf = new Map(caller.memberships.map(({ workspace_id, name }) => [workspace_id, name]))
  return homeView({
    title: 'Workspace',
    account: call.account,
    workspace: others.length === 0 ? (only?.name ?? null) : null,
    csrfToken: call.csrfToken,
    bases: bases.map(({ id, name, document_count, folder_count, workspace_id }) => ({
      id,
      name,
      documents: document_count,
      folders: folder_count,
      workspace: others.length === 0 ? null : (nameOf.get(workspace_id) ?? null),
      mayWrite: isWriter(caller, workspace_id),
    })),
    nextAfter: rows.length > basesAtOnce ? (bases.at(-1)?.id ?? null) : null,
    isFirstPage: after === 0,
    changed,
    newBase: mayCreate(caller) ? form : null,
  })
}

function mayCreate(caller: Caller): boolean {
  const [first] = caller.memberships
  return first !== undefined && isWriter(caller, first.workspace_id)
}

async function lastChanged({ service }: AccountCall, workspaceIds: readonly string[]): Promise<ChangedDocument[]> {
  const filter = {
    workspaceIds,
    includeVariants: false,
    sort: 'updated_at',
    after: null,
    limit: changedAtOnce,
  } as const
  const rows = (await documentPage(service.database, filter)).slice(0, changedAtOnce)
  const ids = [...new Set(rows.map(({ knowledge_base_id }) => knowledge_base_id))]
  const bases = await namesOfKnowledgeBases(service.database, { ids, workspaceIds })
  const baseOf = new Map(bases.map((base) => [base.id, base]))
  return rows.map(({ id, title, knowledge_base_id, updated_at }) => ({
    id,
    title,
    base: baseOf.get(knowledge_base_id) ?? null,
    changed: momentOf(updated_at),
  }))
}
