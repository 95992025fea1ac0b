import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { ComputationLimitError } from '../../../shared/computations/computation.ts'
import type { Queryable } from '../../../shared/database/database.ts'
import { errorCatalogue } from '../../../shared/errors/error-catalogue.ts'
import type { ErrorCode } from '../../../shared/errors/errors.ts'
import { type FreshBody, freshBodies } from '../../../shared/reading/queries.ts'
import { tokensOfOne } from '../../../shared/reading/schema.ts'
import type { Answer } from '../../http/route.ts'
import { itemTexts, type SeveralView, type Share } from './several-views.ts'

// The most bytes of the bodies that are in memory at a time, apart from a single larger body, and the most bytes of
// JSON of an answer.
const pageBytes = 4 * 1024 * 1024
const answerBytes = 8 * 1024 * 1024

/** A request to read documents. `maxTokens` is for the whole answer; undefined means the usual tokens for each. */
export type SeveralRead = {
  caller: Caller
  ids: readonly string[]
  view: SeveralView['view']
  maxTokens: number | undefined
}

/**
 * Reads documents, each as far as its share of the tokens goes. `dataText` is an array as JSON text, with each document
 * once, in the order of the request. A document that is not visible has an item with an error. An answer from
 * several workspaces is not remembered for a repetition, since the caller may have lost one of them by then.
 *
 * Bodies are read and computed page by page, so neither memory nor a turn grows with the number of large documents.
 */
export async function readSeveral(
  db: Queryable,
  { caller, ids, view, maxTokens }: SeveralRead,
): Promise<Answer & { dataText: string }> {
  const workspaceIds = visibleWorkspaces(caller)
  const documentIds = [...new Set(ids)]
  const share = shareOf(documentIds.length, maxTokens)
  const items = new Map<string, string>()
  const workspaces = new Set<string>()
  for (let hasMore = true; hasMore; ) {
    const unread = documentIds.filter((id) => !items.has(id))
    const { bodies, leftOut } = await freshBodies(db, { documentIds: unread, workspaceIds, bytes: pageBytes })
    const texts = await textsOf({ bodies, view, share })
    for (const [index, { id, workspace_id }] of bodies.entries()) {
      items.set(id, texts[index] as string)
      workspaces.add(workspace_id)
    }
    hasMore = leftOut > 0
  }
  const texts = documentIds.map((id) => items.get(id) ?? missing(id))
  const dataText = `[${texts.join(',')}]`
  const [workspaceId, ...others] = workspaces
  if (others.length > 0) return { dataText, remembered: false }
  return { dataText, ...(workspaceId !== undefined && { workspaceId }) }
}

function shareOf(documents: number, maxTokens = documents * tokensOfOne.usual): Share {
  const tokens = Math.floor(maxTokens / documents)
  return {
    tokens: Math.min(Math.max(tokens, tokensOfOne.least), tokensOfOne.most),
    bytes: Math.floor(answerBytes / documents),
  }
}

// When a page takes too much processor time or memory, its documents are computed one by one, so that only a hostile
// document is left out.
async function textsOf(page: SeveralView): Promise<string[]> {
  try {
    return await itemTexts(page)
  } catch (error) {
    if (!(error instanceof ComputationLimitError)) throw error
    return page.bodies.length === 1 ? page.bodies.map(tooCostly) : eachOf(page)
  }
}

async function eachOf({ bodies, ...view }: SeveralView): Promise<string[]> {
  const texts: string[] = []
  for (const body of bodies) texts.push(...(await textsOf({ ...view, bodies: [body] })))
  return texts
}

function missing(id: string): string {
  return failed(id, { code: 'document_not_found', message: errorCatalogue.document_not_found.message })
}

// The request is not at fault, and a repetition would end in the same way.
function tooCostly({ id }: FreshBody): string {
  const message = 'The document takes too much to be computed; read its content as tiptap-json.'
  return failed(id, { code: 'document_too_large', message })
}

function failed(id: string, error: { code: ErrorCode; message: string }): string {
  return JSON.stringify({ id, error })
}
