import { visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { inSnapshot, type Queryable } from '../../../shared/database/database.ts'
import { Refusal } from '../../../shared/errors/errors.ts'
import { freshnessOfRelations } from '../../../shared/relations/freshness.ts'
import { listRelations } from '../../../shared/relations/list.ts'
import { blockUri, type DocumentRelation, parseDocumentUri, predicates } from '../../../shared/relations/schema.ts'
import { createRelation, deleteRelation } from '../../../shared/relations/write.ts'
import { blockIdPattern } from '../../../shared/schema/ids.ts'
import { cutText } from '../../../shared/schema/strings.ts'
import { type BlockText, blockTexts } from '../../../shared/search/block-texts.ts'
import { decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
import { usualBucket } from '../account-page.ts'
import { actionOf } from '../form-refusal.ts'
import type { Form } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { view } from '../render.ts'
import { writeOnce } from '../write-once.ts'
import { type PanelCall, panelPage } from './frame.ts'
import { readOnlyWords } from './refusal-words.ts'
import { longestNote, type RelationForm, relationForm } from './relation-form.ts'
import { type RelationLine, relationLine } from './relation-words.ts'

// The endpoint that the cursors of the lists belong to.
const endpoint = 'panel of relations'
// How many relations of each direction a page shows.
const shownAtOnce = 25

type RelationList = { lines: RelationLine[]; next: string | null; isFirst: boolean }

type RelationsData = {
  address: string
  csrfToken: string
  mayWrite: boolean
  /** What was done just now, and what was refused; null for nothing. */
  done: string | null
  problem: string | null
  freshness: 'current' | 'stale' | 'missing'
  outgoing: RelationList
  incoming: RelationList
  form: RelationForm | null
}

const relationsView = view<RelationsData>('relations-panel')

/** The relations of a document to and from other documents (api/guide/relations.md), and the form for new ones. */
export const relationsPanel = panelPage({
  name: 'relations',
  // A page that looks for the targets of a new relation counts as the search that it is.
  bucket: (call) => (call.submitted === null && call.query.has('find') ? 'search' : usualBucket(call)),
  async show(call, refused) {
    const { service, request, csrfToken, document, mayWrite, query } = call
    // One snapshot, so that the freshness is that of the lists.
    const { freshness, outgoing, incoming } = await inSnapshot(service.database, async (db) => ({
      freshness: await freshnessOfRelations(db, document),
      outgoing: await relationsOf(db, { call, direction: 'outgoing' }),
      incoming: await relationsOf(db, { call, direction: 'incoming' }),
    }))
    const filled = mayWrite ? await relationForm(call, refused) : null
    const html = relationsView({
      title: 'Relations',
      address: request.path,
      csrfToken,
      mayWrite,
      done: done.get(query.get('done') ?? '') ?? null,
      problem: refused?.problem ?? filled?.problem ?? null,
      freshness,
      outgoing,
      incoming,
      form: filled?.form ?? null,
    })
    return { html, isPending: freshness !== 'current' }
  },
  async write(call, submitted) {
    return `${call.request.path}?done=${await actionOf(writes, submitted.field('operation'))(call, submitted)}`
  },
  reasons: {
    invalid_request: 'Choose where the relation leads, which block it comes from, and what it says.',
    relation_exists: 'This relation is there already.',
    self_relation: 'A block cannot be related to itself. Choose another block or another target.',
    document_not_found: 'The document that you chose is gone. Nothing has been added.',
    block_not_found: 'A block that you chose is no longer in its document. Nothing has been added. Choose again.',
    relation_not_found: 'This relation was deleted already.',
    inline_relation: 'This relation is a link in the text. Remove the link, and the relation goes with it.',
    forbidden: readOnlyWords,
  },
})

type Done = 'added' | 'deleted'

// What the forms of the panel can ask for, by the value of their field `operation`.
const writes: ReadonlyMap<string, (call: PanelCall, submitted: Form) => Promise<Done>> = new Map([
  ['create', add],
  ['delete', remove],
])

const done = new Map<string, string>([
  ['added', 'The relation was added.'],
  ['deleted', 'The relation was deleted.'],
] satisfies [Done, string][])

async function add(call: PanelCall, submitted: Form): Promise<Done> {
  const target = submitted.field('target')
  const block = submitted.field('block')
  const predicate = predicates.find((known) => known === submitted.field('predicate'))
  const isComplete = new RegExp(blockIdPattern).test(block) && parseDocumentUri(target) !== null
  if (!isComplete || predicate === undefined) throw new Refusal('invalid_request', { details: { fields: [] } })
  const relation = {
    source_document_id: call.document.id,
    source_block_id: block,
    target_uri: target,
    predicate,
    anchor_text: cutText(submitted.field('note').trim(), longestNote),
  }
  await writeOnce(call, { form: submitted }, async ({ tx, caller }) => {
    const { id } = await createRelation(tx, { caller, relation })
    await recordPageWrite(tx, { call, action: 'createRelation', documentIds: [call.document.id] })
    return id
  })
  return 'added'
}

// Deletes a relation of the document. A relation of another document is refused, which rolls the deletion back.
function remove(call: PanelCall, submitted: Form): Promise<Done> {
  const id = submitted.field('relation')
  return pageWrite(call, async ({ tx, caller }) => {
    const { source_document_id } = await deleteRelation(tx, { id, caller })
    if (source_document_id !== call.document.id) throw new Refusal('relation_not_found', { details: { id } })
    await recordPageWrite(tx, { call, action: 'deleteRelation', documentIds: [source_document_id] })
    return 'deleted' as const
  })
}

type Direction = 'outgoing' | 'incoming'

async function relationsOf(
  db: Queryable,
  { call, direction }: { call: PanelCall; direction: Direction },
): Promise<RelationList> {
  const { document, caller, query } = call
  const cursor = query.get(direction) ?? undefined
  const scope = { endpoint, filters: { id: document.id, direction }, sort: 'created_at' }
  const [createdAt, id] = cursor === undefined ? [] : decodeCursor(scope, cursor, ['number', 'string'])
  const after = cursor === undefined ? null : { createdAt: Number(createdAt), id: String(id) }
  const workspaceIds = visibleWorkspaces(caller)
  const filter = { document, workspaceIds, direction, predicate: undefined, after, limit: shownAtOnce }
  const rows = await listRelations(db, filter)
  const next = (last: DocumentRelation) => encodeCursor(scope, [last.created_at, last.id])
  const { data, page } = pageOf({ rows, limit: shownAtOnce, cursor, next })
  const texts = await textsOfEnds(db, { relations: data, workspaceIds })
  const lines = data.map((relation) => relationLine(relation, { direction, texts }))
  return { lines, next: page.next_cursor, isFirst: cursor === undefined }
}

async function textsOfEnds(
  db: Queryable,
  { relations, workspaceIds }: { relations: readonly DocumentRelation[]; workspaceIds: readonly string[] },
): Promise<ReadonlyMap<string, BlockText>> {
  const blocks = relations
    .flatMap(({ source, target }) => [source, target])
    .flatMap(({ document_id: documentId, block_id: blockId }) => (blockId === null ? [] : [{ documentId, blockId }]))
  const texts = await blockTexts(db, { workspaceIds, blocks })
  return new Map(texts.map((text) => [blockUri(text), text]))
}
