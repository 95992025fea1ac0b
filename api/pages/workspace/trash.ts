import { type Caller, isWriter, requireWriter, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import { findEntry, type TrashEntryRow, trashNotFound } from '../../../shared/trash/entries.ts'
import { trashPage as entryPage } from '../../../shared/trash/list.ts'
import { purgeEntry } from '../../../shared/trash/purge.ts'
import { type Restored, restoreEntry } from '../../../shared/trash/restore.ts'
import { type CursorScope, decodeCursor, encodeCursor } from '../../http/pagination.ts'
import { type AccountCall, accountPage } from '../account-page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { type Moment, momentOf, view } from '../render.ts'
import { idOf, pathOf } from './addresses.ts'
import { problemOf } from './problems.ts'

// The most entries on a page of the trash.
const shownAtOnce = 50

type ListedEntry = {
  id: string
  kind: 'document' | 'folder' | 'base'
  name: string
  path: string
  documents: number
  deleted: Moment
  expires: Moment
  mayWrite: boolean
}

const trashView = view<{
  csrfToken: string
  entries: ListedEntry[]
  knowledgeBaseId: number | null
  isFirstPage: boolean
  next: string | null
  days: number
  problem: string | null
}>('trash')

const purgeView = view<{ csrfToken: string; entry: { id: string; name: string; documents: number } }>('purge')

/** What was deleted and can be restored, the newest first; with `knowledge_base` what was in one knowledge base. */
export const trashPage = accountPage({
  path: '/trash',
  async get(call) {
    return { html: await show(call, null) }
  },
})

/** Restores an entry of the trash, and goes to what was restored. */
export const restorePage = accountPage({
  path: '/trash/{entryId}/restore',
  get: async () => ({ location: '/trash' }),
  async post(call) {
    try {
      return await pageWrite(call, async (write) => {
        const entry = await requireEntry(call, { db: write.tx, caller: write.caller })
        const restored = await restoreEntry(write, { entry, location: {} })
        await recordPageWrite(write.tx, { call, action: 'restoreFromTrash', ...auditedAs(entry) })
        return { location: pathOfRestored(restored) }
      })
    } catch (error) {
      const { status, message } = problemOf(error)
      return { status, html: await show(call, message) }
    }
  },
})

/** Asks before an entry of the trash is deleted for good. */
export const purgePage = accountPage({
  path: '/trash/{entryId}/purge',
  async get(call) {
    const { caller } = call
    const { id, name, document_count: documents } = await requireEntry(call, { db: call.service.database, caller })
    const { account, csrfToken } = call
    return { html: purgeView({ title: 'Delete for good', account, csrfToken, entry: { id, name, documents } }) }
  },
  async post(call) {
    return pageWrite(call, async (write) => {
      const entry = await requireEntry(call, { db: write.tx, caller: write.caller })
      if (!(await purgeEntry(write.tx, entry))) throw trashNotFound(entry.id)
      await recordPageWrite(write.tx, { call, action: 'purgeFromTrash', ...auditedAs(entry) })
      return { location: '/trash' }
    })
  },
})

async function requireEntry(
  { params, service }: AccountCall,
  { db, caller }: { db: Queryable; caller: Caller },
): Promise<TrashEntryRow> {
  const entry = await findEntry(db, { caller, id: params['entryId'] ?? '', retention: service.config })
  requireWriter(caller, entry.workspace_id)
  return entry
}

function auditedAs({ workspace_id: workspaceId, document_id }: TrashEntryRow) {
  return { place: { workspaceId }, documentIds: document_id === null ? [] : [document_id] }
}

function pathOfRestored(restored: Restored): string {
  if (restored.type === 'document') return `/d/${restored.document.id}`
  if (restored.type === 'knowledge_base') return pathOf({ knowledgeBaseId: restored.knowledgeBase.id, folderId: null })
  const { id: folderId, knowledge_base_id: knowledgeBaseId } = restored.folder
  return pathOf({ knowledgeBaseId, folderId })
}

async function show(call: AccountCall, problem: string | null): Promise<string> {
  const { query, service, account, csrfToken, caller } = call
  const base = query.get('knowledge_base')
  const knowledgeBaseId = base === null ? null : idOf(base)
  const scope: CursorScope = { endpoint: '/trash', filters: { knowledge_base_id: knowledgeBaseId }, sort: 'id' }
  const cursor = query.get('cursor')
  const [after = null] = cursor === null ? [] : decodeCursor(scope, cursor, ['string'])
  const rows = await entryPage(service.database, {
    workspaceIds: visibleWorkspaces(caller),
    retention: service.config,
    knowledgeBaseId: knowledgeBaseId ?? undefined,
    after: after === null ? null : String(after),
    limit: shownAtOnce,
  })
  const shown = rows.slice(0, shownAtOnce)
  const last = shown.at(-1)
  return trashView({
    title: 'Trash',
    account,
    csrfToken,
    entries: shown.map((entry) => listedEntry(entry, caller)),
    knowledgeBaseId,
    isFirstPage: cursor === null,
    next: rows.length > shownAtOnce && last ? encodeCursor(scope, [last.id]) : null,
    days: service.config.TRASH_RETENTION_DAYS,
    problem,
  })
}

function listedEntry(entry: TrashEntryRow, caller: Caller): ListedEntry {
  const { id, type, name, path_text: path, document_count: documents, deleted_at, expires_at } = entry
  return {
    ...{ id, name, path, documents },
    kind: type === 'knowledge_base' ? 'base' : type,
    deleted: momentOf(deleted_at),
    expires: momentOf(expires_at),
    mayWrite: isWriter(caller, entry.workspace_id),
  }
}
