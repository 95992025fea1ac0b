import { type Caller, visibleWorkspaces } from '../../../shared/auth/caller.ts'
import { visibleDocument } from '../../../shared/documents/queries.ts'
import { blockUri, parseDocumentUri } from '../../../shared/relations/schema.ts'
import { blockTexts } from '../../../shared/search/block-texts.ts'
import { presentV2Result } from '../../../shared/search/present.ts'
import type { SearchV2Hit } from '../../../shared/search/schema.ts'
import { searchTopK } from '../../../shared/search/search.ts'
import type { Service } from '../../http/service.ts'
import { searchV2Of } from '../../routes/search/parameters.ts'

/** A document or a block that a relation may lead to. `text` is how the block begins, null for a document. */
export type RelationTarget = { uri: string; title: string; headingPath: string[]; text: string | null }

// A made-up origin, for parsing paths. No request has this origin.
const origin = 'http://service.invalid'
const mostHits = 10

/**
 * Finds what a person may mean as the target of a relation. `asked` is the address of a document or block, or words
 * that are searched for. Documents come before their blocks, the best match first. Refuses with 400 `invalid_query` a
 * query that only excludes words.
 */
export async function relationTargets(
  service: Service,
  { caller, asked }: { caller: Caller; asked: string },
): Promise<RelationTarget[]> {
  const named = addressIn(asked)
  if (named !== null) return namedTarget(service, { caller, ...named })
  const search = searchV2Of(caller, { q: asked, locale: 'all', limit: mostHits })
  const { hits } = await searchTopK(service.database, { ...search, relax: true })
  const results = hits.map((hit) => presentV2Result(hit, { highlight: false }))
  return [...Map.groupBy(results, ({ document_id }) => document_id).values()].flatMap(targetsOf)
}

function addressIn(asked: string): { documentId: string; blockId: string | null } | null {
  if (/^doc_\S+$/.test(asked)) return parseDocumentUri(`svc://doc/${asked}`)
  if (asked.startsWith('svc:')) return parseDocumentUri(asked)
  if (!/^(https?:\/\/|\/d\/)/.test(asked) || !URL.canParse(asked, origin)) return null
  const { pathname, hash } = new URL(asked, origin)
  const documentId = /^\/d\/([^/]+)/.exec(pathname)?.[1]
  if (documentId === undefined) return null
  const whole = parseDocumentUri(`svc://doc/${documentId}`)
  return parseDocumentUri(`svc://doc/${documentId}#block=${hash.slice(1)}`) ?? whole
}

async function namedTarget(
  { database }: Service,
  { caller, documentId, blockId }: { caller: Caller; documentId: string; blockId: string | null },
): Promise<RelationTarget[]> {
  const workspaceIds = visibleWorkspaces(caller)
  const document = await visibleDocument(database, { documentId, workspaceIds })
  if (document === null) return []
  const { title } = document
  const whole = { uri: `svc://doc/${documentId}`, title, headingPath: [], text: null }
  if (blockId === null) return [whole]
  const [block] = await blockTexts(database, { workspaceIds, blocks: [{ documentId, blockId }] })
  const { headingPath = [], text = 'the block of this address' } = block ?? {}
  return [{ uri: blockUri({ documentId, blockId }), title, headingPath, text }, whole]
}

function targetsOf(hits: readonly SearchV2Hit[]): RelationTarget[] {
  const [first] = hits
  if (first === undefined) return []
  const { title, document_uri: uri } = first
  const blocks = hits.flatMap(({ document_id: documentId, block_id: blockId, heading_path: headingPath, context }) =>
    blockId === null ? [] : [{ uri: blockUri({ documentId, blockId }), title, headingPath, text: shownText(context) }],
  )
  return [{ uri, title, headingPath: [], text: null }, ...blocks]
}

/** The text around a match as a page shows it. */
export function shownText({ before, match, after }: SearchV2Hit['context']): string {
  return `${before ?? ''}${match}${after ?? ''}`
}
