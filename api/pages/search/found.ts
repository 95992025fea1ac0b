import type { SearchV2Hit } from '../../../shared/search/schema.ts'
import { type Moment, momentOf } from '../render.ts'
import { searchPath } from './asked.ts'

/** A document with hits, in the order of its best hit. */
export type FoundDocument = {
  path: string
  title: Piece[]
  /** Knowledge base and folders. */
  place: { name: string; path: string }[]
  locale: string | null
  updated: Moment
  hits: FoundBlock[]
  /** How many further matches the document has, and the address that shows them. */
  more: { count: number; path: string } | null
}

/** A block with a hit: its address in the document, the headings above it and its text. */
export type FoundBlock = { path: string; headings: string[]; kind: string | null; pieces: Piece[] }

/** A part of a text; `isMatch` says that the part is one of the words that were looked for. */
export type Piece = { text: string; isMatch: boolean }

// What a reader should know of a block of this type.
const kinds: Record<string, string> = { heading: 'Heading', codeBlock: 'Code' }

/** Puts hits together by document. `kept` are the parameters of the search. */
export function foundDocuments(hits: readonly SearchV2Hit[], kept: URLSearchParams): FoundDocument[] {
  const byDocument = Map.groupBy(hits, ({ document_id }) => document_id)
  return [...byDocument].map(([id, [first, ...others]]) =>
    foundDocument({ id, hits: [first as SearchV2Hit, ...others], kept }),
  )
}

function foundDocument(found: {
  id: string
  hits: [SearchV2Hit, ...SearchV2Hit[]]
  kept: URLSearchParams
}): FoundDocument {
  const { id, hits, kept } = found
  const [first] = hits
  const inTitle = hits.find(({ matched_in }) => matched_in === 'title')
  const isWholeTitle = inTitle !== undefined && textOf(inTitle) === inTitle.title
  const count = first.more_in_document ?? 0
  return {
    path: `/d/${id}`,
    title: isWholeTitle ? piecesOf(inTitle) : [{ text: first.title, isMatch: false }],
    place: first.path.flatMap(({ id: placeId, name, type }, index) => {
      if (type === 'document') return []
      const base = `/kb/${first.path[0]?.id}`
      return [{ name, path: index === 0 ? base : `${base}/folders/${placeId}` }]
    }),
    locale: first.locale,
    updated: momentOf(first.updated_at),
    hits: hits.filter(({ matched_in }) => matched_in === 'content').map((hit) => foundBlock(id, hit)),
    more:
      count === 0
        ? null
        : { count, path: searchPath(kept, { document_id: id, mode: 'exhaustive', typing: null, sort: null }) },
  }
}

function foundBlock(documentId: string, hit: SearchV2Hit): FoundBlock {
  return {
    path: `/d/${documentId}#${hit.block_id}`,
    headings: hit.heading_path,
    kind: kinds[hit.block_type ?? ''] ?? null,
    pieces: piecesOf(hit),
  }
}

// The text of a hit, cut where the words stand. The ranges count code points.
function piecesOf(hit: SearchV2Hit): Piece[] {
  const characters = Array.from(textOf(hit))
  const pieces: Piece[] = []
  let end = 0
  for (const [from = 0, to = 0] of hit.highlights ?? []) {
    pieces.push({ text: characters.slice(end, from).join(''), isMatch: false })
    pieces.push({ text: characters.slice(from, to).join(''), isMatch: true })
    end = to
  }
  pieces.push({ text: characters.slice(end).join(''), isMatch: false })
  return pieces.filter(({ text }) => text !== '')
}

function textOf({ context }: SearchV2Hit): string {
  return `${context.before ?? ''}${context.match}${context.after ?? ''}`
}
