import Type from 'typebox'
import { type Caller, requireWriter, visibleWorkspaces } from '../../shared/auth/caller.ts'
import type { Queryable } from '../../shared/database/database.ts'
import { Refusal } from '../../shared/errors/errors.ts'
import { presentFolder } from '../../shared/knowledge-bases/folders.ts'
import { presentOne } from '../../shared/localization/present.ts'
import { IntegerIdFilter } from '../../shared/schema/identifiers.ts'
import { ulidPattern } from '../../shared/schema/ids.ts'
import { TrimmedText } from '../../shared/schema/strings.ts'
import { findEntry, type TrashEntryRow, type TrashRetention } from '../../shared/trash/entries.ts'
import { presentEntry, trashPage } from '../../shared/trash/list.ts'
import { purgeEntry } from '../../shared/trash/purge.ts'
import { type Restored, restoreEntry } from '../../shared/trash/restore.ts'
import { RestoredIdentity, RestoredResource, RestoreInput, TrashEntry } from '../../shared/trash/schema.ts'
import { requireScopes } from '../http/authenticate.ts'
import { type CursorScope, decodeCursor, encodeCursor, pageOf } from '../http/pagination.ts'
import { pageParameters } from '../http/parameters.ts'
import { route } from '../http/route.ts'

const tag = 'Trash'

const TrashParameter = Type.Object({
  id: Type.String({
    pattern: `^trash_${ulidPattern}$`,
    description: 'id of an entry of the trash',
    'x-error': 'trash_not_found',
  }),
})

/** The routes of the trash. See `api/guide/trash.md#restoring`. */
export const trashRoutes = [
  route({
    method: 'GET',
    path: '/trash',
    operationId: 'listTrash',
    tag,
    extension: true,
    summary: 'List what was deleted and can be restored',
    description: 'Newest first, one entry for each deletion of a document, folder or knowledge base.',
    scopes: ['documents:read'],
    query: Type.Object({
      ...pageParameters,
      knowledge_base_id: Type.Optional(
        IntegerIdFilter({ description: 'of the place before the deletion, or deleted itself' }),
      ),
      q: Type.Optional(TrimmedText({ min: 1, max: 200, description: 'part of the name, ignoring case' })),
    }),
    success: { status: 200, description: 'A page of entries', data: TrashEntry, list: true },
    errors: ['invalid_cursor'],
    async handle({ service, db, caller, endpoint, query: { limit = 50, cursor, knowledge_base_id, q } }) {
      const filters = { knowledgeBaseId: knowledge_base_id, nameContains: q?.trim() }
      const scope: CursorScope = { endpoint, filters, sort: 'id' }
      const [after = null] = cursor === undefined ? [] : decodeCursor(scope, cursor, ['string'])
      const workspaceIds = visibleWorkspaces(caller)
      const rows = await trashPage(db, {
        ...filters,
        workspaceIds,
        retention: service.config,
        after: after === null ? null : String(after),
        limit,
      })
      const { data, page } = pageOf({ rows, limit, cursor, next: ({ id }) => encodeCursor(scope, [id]) })
      return { data: data.map(presentEntry), page }
    },
  }),

  route({
    method: 'POST',
    path: '/trash/{id}/restore',
    operationId: 'restoreFromTrash',
    tag,
    extension: true,
    summary: 'Restore a document, folder or knowledge base',
    description:
      'Everything that the deletion took away comes back with its ids, except public links. It returns to its old place, to the root of its knowledge base when its folder is gone, or to the place that the body names. A folder or knowledge base needs `knowledge-bases:write`, too.',
    scopes: ['documents:write'],
    params: TrashParameter,
    body: RestoreInput,
    success: { status: 200, description: 'The restored resource', data: RestoredResource, minimal: RestoredIdentity },
    errors: [
      'trash_not_found',
      'folder_not_found',
      'knowledge_base_not_found',
      'folder_knowledge_base_mismatch',
      'cross_workspace_move',
      'parent_missing',
      'locale_exists',
      'quota_exceeded',
    ],
    async handle({ service, tx, write, caller, params, body }) {
      const entry = await requireEntry(tx, { caller, id: params.id, retention: service.config })
      const restored = await restoreEntry(write, { entry, location: body })
      const data = { ...(await presentRestored(tx, restored)), not_restored: restored.notRestored }
      const { id, not_restored } = data
      const minimal = () => ({ id, ...('version' in data && { version: data.version }), not_restored })
      return { data, minimal, ...auditedAs(restored.entry) }
    },
  }),

  route({
    method: 'DELETE',
    path: '/trash/{id}',
    operationId: 'purgeFromTrash',
    tag,
    extension: true,
    summary: 'Delete an entry of the trash for good',
    description: 'A folder or knowledge base needs `knowledge-bases:write`, too.',
    scopes: ['documents:write'],
    params: TrashParameter,
    success: { status: 204, description: 'Deleted for good', data: null },
    errors: ['trash_not_found'],
    async handle({ service, tx, caller, params: { id } }) {
      const entry = await requireEntry(tx, { caller, id, retention: service.config })
      if (!(await purgeEntry(tx, entry))) throw new Refusal('trash_not_found', { details: { id } })
      return auditedAs(entry)
    },
  }),
]

// The entry, for a caller who may delete what it holds. The second scope is checked here, and not before the entry is
// found, because only the entry says whether the call is about a folder or knowledge base.
async function requireEntry(
  db: Queryable,
  input: { caller: Caller; id: string; retention: TrashRetention },
): Promise<TrashEntryRow> {
  const entry = await findEntry(db, input)
  if (entry.type !== 'document') requireScopes(input.caller, ['documents:write', 'knowledge-bases:write'])
  requireWriter(input.caller, entry.workspace_id)
  return entry
}

// The audit has the write for the document of the entry, or else for its workspace.
function auditedAs({ workspace_id: workspaceId, document_id }: TrashEntryRow) {
  return { workspaceId, documentIds: document_id === null ? [] : [document_id] }
}

async function presentRestored(db: Queryable, restored: Restored) {
  if (restored.type === 'document') return presentOne(db, restored.document)
  return restored.type === 'folder' ? presentFolder(restored.folder) : restored.knowledgeBase
}
