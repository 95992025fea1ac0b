import { Compile } from 'typebox/compile'
import { isWriter, requireWriter } from '../../../shared/auth/caller.ts'
import { TagInput, tagLimits } from '../../../shared/documents/metadata.ts'
import { deleteTag, findTag, renameTag, tagPage } from '../../../shared/documents/tags.ts'
import { findKnowledgeBase, findWritableKnowledgeBase } from '../../../shared/knowledge-bases/lifecycle.ts'
import { type CursorScope, decodeCursor, encodeCursor, pageOf } from '../../http/pagination.ts'
import { type AccountCall, type AccountFormCall, accountPage } from '../account-page.ts'
import { actionOf, FormRefusal } from '../form-refusal.ts'
import type { PageAnswer } from '../page.ts'
import { pageWrite, recordPageWrite } from '../page-writes.ts'
import { view } from '../render.ts'
import { addressOf } from './addresses.ts'
import { type Problem, problemOf } from './problems.ts'

// The most tags on a page of the list.
const shownAtOnce = 100

type Base = { id: number; name: string }
type ListedTag = { tag: string; documents: number }

const tagsView = view<{
  base: Base
  mayWrite: boolean
  tags: ListedTag[]
  isFirstPage: boolean
  next: string | null
  /** What was done a moment ago; null for nothing. */
  done: string | null
}>('base-tags')

const tagView = view<{
  csrfToken: string
  base: Base
  tag: ListedTag
  /** The new name as it was typed, and the tag that has this name already, which the tag would become one with. */
  rename: { name: string; problem: string | null; other: ListedTag | null }
  longest: number
}>('base-tag')

const isTag = Compile(TagInput)

/** The tags of a knowledge base and how many documents have each (api/guide/documents.md#tags-of-a-knowledge-base). */
export const tagsPage = accountPage({
  path: '/kb/{knowledgeBaseId}/tags',
  async get(call) {
    const { service, caller, query, account } = call
    const { base, workspaceId } = await requireBase(call)
    const scope: CursorScope = { endpoint: 'page of tags', filters: { id: base.id }, sort: 'tag' }
    const cursor = query.get('cursor') ?? undefined
    const [after = ''] = cursor === undefined ? [] : decodeCursor(scope, cursor, ['string'])
    const page = { workspaceId, id: base.id, after: String(after), limit: shownAtOnce }
    const rows = await tagPage(service.database, page)
    const next = ({ tag }: { tag: string }) => encodeCursor(scope, [tag])
    const list = pageOf({ rows, limit: shownAtOnce, cursor, next })
    const html = tagsView({
      title: `Tags · ${base.name}`,
      account,
      base,
      mayWrite: isWriter(caller, workspaceId),
      tags: list.data.map(listed),
      isFirstPage: cursor === undefined,
      next: list.page.next_cursor,
      done: done.get(query.get('done') ?? '') ?? null,
    })
    return { html }
  },
})

/** Renames the tag of the query in all documents of a knowledge base, merges it with another tag, or removes it. */
export const changeTagPage = accountPage({
  path: '/kb/{knowledgeBaseId}/tags/change',
  async get(call) {
    const tag = call.query.get('tag') ?? ''
    return { html: await show(call, { tag, rename: { name: tag, problem: null, other: null } }) }
  },
  async post(call) {
    return actionOf(actions, call.submitted.field('action'))(call)
  },
})

const actions = new Map([
  ['rename', rename],
  ['remove', remove],
])

const done = new Map([
  ['renamed', 'The tag has its new name in all documents.'],
  ['merged', 'The two tags are one tag now.'],
  ['removed', 'The tag was removed from all documents.'],
])

async function rename(call: AccountFormCall): Promise<PageAnswer> {
  const { submitted } = call
  const [tag, name] = [submitted.field('tag'), submitted.field('name').trim()]
  // The consent names the tag that it was asked for.
  const merged = submitted.field('merge')
  let other: ListedTag | null = null
  const refuse = async ({ status, message }: Problem) => ({
    status,
    html: await show(call, { tag, rename: { name, problem: message, other } }),
  })
  if (!isTag.Check(name)) return refuse({ status: 400, message: `A tag has 1 to ${tagLimits.characters} characters.` })
  try {
    await pageWrite(call, async ({ tx, caller }) => {
      const base = await findWritableKnowledgeBase(tx, { caller, id: addressOf(call).knowledgeBaseId })
      const guard = (found: { tag: string; document_count: number }) => {
        other = listed(found)
        if (merged !== found.tag) throw new FormRefusal('version_conflict', `The tag “${found.tag}” exists already.`)
      }
      await renameTag({ tx, caller }, { base, tag, name, guard })
      await recordPageWrite(tx, { call, action: 'renameTag', place: { workspaceId: base.workspaceId } })
    })
  } catch (error) {
    return refuse(problemOf(error))
  }
  return { location: listPath(call, other === null ? 'renamed' : 'merged') }
}

async function remove(call: AccountFormCall): Promise<PageAnswer> {
  await pageWrite(call, async ({ tx, caller }) => {
    const base = await findWritableKnowledgeBase(tx, { caller, id: addressOf(call).knowledgeBaseId })
    await deleteTag({ tx, caller }, { base, tag: call.submitted.field('tag') })
    await recordPageWrite(tx, { call, action: 'deleteTag', place: { workspaceId: base.workspaceId } })
  })
  return { location: listPath(call, 'removed') }
}

type Renaming = { name: string; problem: string | null; other: ListedTag | null }

async function show(call: AccountCall, { tag: asked, rename }: { tag: string; rename: Renaming }): Promise<string> {
  const { service, account, csrfToken, caller } = call
  const { base, workspaceId } = await requireBase(call)
  requireWriter(caller, workspaceId)
  const tag = listed(await findTag(service.database, { base: { workspaceId, id: base.id }, tag: asked }))
  const longest = tagLimits.characters
  return tagView({ title: `Change the tag ${tag.tag}`, account, csrfToken, base, tag, rename, longest })
}

async function requireBase(call: AccountCall): Promise<{ base: Base; workspaceId: string }> {
  const id = addressOf(call).knowledgeBaseId
  const { name, workspace_id } = await findKnowledgeBase(call.service.database, { caller: call.caller, id })
  return { base: { id, name }, workspaceId: workspace_id }
}

function listed({ tag, document_count }: { tag: string; document_count: number }): ListedTag {
  return { tag, documents: document_count }
}

function listPath(call: AccountCall, what: string): string {
  return `/kb/${addressOf(call).knowledgeBaseId}/tags?done=${what}`
}
