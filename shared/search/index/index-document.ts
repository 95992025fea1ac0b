import { hash } from 'node:crypto'
import { longestIncreasing } from '../../body/sequence.ts'
import { StoredBody } from '../../body/stored-body.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { type ProjectionInput, projectionComputation } from '../../jobs/projections/computation.ts'
import { type Derived, type DocumentSource, loadSources } from '../../jobs/projections/queries.ts'
import type { DocumentJob } from '../../jobs/queues.ts'
import { detectLanguage } from '../text/detect-language.ts'
import { blockTypeLexeme, scopeLexemes } from '../text/lexemes.ts'
import { languageOf } from '../text/stems.ts'
import { tokeniserEpoch } from '../text/tokenise.ts'
import {
  type BlockRow,
  deleteIndexRows,
  type IndexedBlock,
  indexedDocuments,
  insertRows,
  type RowPlaces,
  writeIndexStates,
} from './index-queries.ts'
import { indexOutlineOf, type SearchOutline, textblocksOf } from './outline.ts'
import { blockVector } from './vector.ts'
import { addToVocabularies } from './vocabulary.ts'

// The distance between the numbers (`ord`) of neighbouring rows in a fresh index. The gap leaves room for sixteen
// inserts at one spot before all rows get new numbers.
const gap = 65_536

/** A document from which its index is made, with the rows that the index has already. */
export type IndexSource = DocumentSource & {
  body: string
  projected_seq: number | null
  blocks: readonly IndexedBlock[]
}

/**
 * A change of the index of a document: rows to remove by their `ord`, rows to write, and the words of the written rows.
 */
export type IndexChange = {
  language: string
  outline: SearchOutline
  places: RowPlaces
  remove: number[]
  write: BlockRow[]
  words: string[]
}

/** Reads the documents of jobs, and the rows of their indexes, by id. Documents that are gone are left out. */
export async function loadIndexSources(
  db: Queryable,
  jobs: readonly DocumentJob[],
): Promise<ReadonlyMap<string, IndexSource>> {
  const indexed = await indexedDocuments(db, jobs)
  const sources = await loadSources(db, jobs)
  const rebuilt = new Set(jobs.filter(({ rebuild }) => rebuild).map(({ document_id }) => document_id))
  return new Map(
    [...sources].map(([id, source]) => {
      const { body_seq = null, blocks = [] } = indexed.get(id) ?? {}
      // An empty hash equals no computed hash, so every row of a rebuilt index is written again.
      const known = rebuilt.has(id) ? blocks.map((block) => ({ ...block, hash: '' })) : blocks
      return [id, { ...source, projected_seq: body_seq, blocks: known }]
    }),
  )
}

/** Computes the changes of the search index of a document. A thread imports this function by its name. @public */
export function indexDocument({ source, job }: ProjectionInput<IndexSource>): IndexChange {
  return computeIndex(job, source)
}

/** Computes the changes of the search index of a document. */
export const indexing = projectionComputation({
  module: import.meta.url,
  run: indexDocument,
  length: ({ body }) => body.length,
})

/**
 * Computes how the index of a document has to change. Only blocks whose text, types, language or scope differ from the
 * rows of the index are tokenised and written again. The ids and positions of blocks are kept apart, in the document's
 * row of `search_documents`. A write of plain Markdown gives all blocks new ids, and still leaves the rows of unchanged
 * texts as they are. @internal
 */
export function computeIndex(job: DocumentJob, source: IndexSource): IndexChange {
  const { document } = new StoredBody({ version: source.version, text: source.body })
  const textblocks = textblocksOf(document)
  const texts = [...textblocks.map(({ text }) => text), source.title]
  const language = languageOf(source.locale) ?? detectLanguage(texts.join('\n'))
  const scopes = scopeLexemes({ workspaceId: job.workspace_id, ...source })
  const context = JSON.stringify([tokeniserEpoch, language, scopes])
  const hashed = textblocks.map((block) => ({ ...block, hash: hashOf(block, context) }))
  const ords = assignOrds(knownOrds(hashed, source.blocks))
  const title = { ord: 0, type: 'title', blockTypes: ['title'], text: source.title }
  const wanted: Entry[] = [
    { ...title, hash: hashOf(title, context) },
    ...hashed.map(({ type, blockTypes, text, hash }, index) => ({
      ord: ords[index] ?? 0,
      type,
      blockTypes,
      text,
      hash,
    })),
  ]
  const there = new Map(source.blocks.map(({ ord, hash }) => [ord, hash]))
  const changed = wanted.filter(({ ord, hash }) => there.get(ord) !== hash)
  const kept = new Set(wanted.map(({ ord }) => ord))
  const written = changed.map((entry) => writtenRow(entry, { language, scopes }))
  return {
    language,
    outline: indexOutlineOf(document),
    places: {
      ords,
      block_ids: textblocks.map(({ blockId }) => blockId),
      positions: textblocks.map(({ position }) => position),
    },
    remove: [
      ...source.blocks.map(({ ord }) => ord).filter((ord) => !kept.has(ord)),
      ...changed.map(({ ord }) => ord).filter((ord) => there.has(ord)),
    ],
    write: written.map(({ row }) => row),
    words: [...new Set(written.flatMap(({ words }) => [...words]))],
  }
}

/**
 * Writes the computed changes of indexes. The caller must have locked the rows of these documents in
 * `search_documents`.
 */
export async function writeIndexes(
  tx: Transaction,
  derived: readonly Derived<IndexSource, IndexChange>[],
): Promise<void> {
  const states = derived.map(({ job, source, result }) => ({
    job,
    version: source.version,
    bodySeq: source.body_seq,
    title: source.title,
    language: result.language,
    epoch: tokeniserEpoch,
    outline: result.outline,
    places: result.places,
  }))
  await writeIndexStates(tx, states)
  await deleteIndexRows(
    tx,
    derived.flatMap(({ job, result }) => result.remove.map((ord) => ({ job, ord }))),
  )
  await insertRows(
    tx,
    derived.flatMap(({ job, result }) => result.write.map((block) => ({ job, ...block }))),
  )
  await addToVocabularies(
    tx,
    derived.map(({ job, result }) => ({ workspaceId: job.workspace_id, words: result.words })),
  )
}

/**
 * Gives the rows of a document ascending numbers with gaps between them, in the order of the document. `known` are the
 * present numbers, null for a new row. Rows keep their numbers, except for the fewest that are out of order. So an
 * insert or a move writes one row; all rows are numbered anew only where no number is free. The number 0 is left to the
 * title. @internal
 */
export function assignOrds(known: readonly (number | null)[]): number[] {
  const inOrder = new Set(longestIncreasing(known.map((ord) => ord ?? -1)))
  const kept = known.map((ord, index) => (inOrder.has(index) ? ord : null))
  const nextKept = nextKeptAfter(kept)
  const ords: number[] = []
  while (ords.length < known.length) {
    const index = ords.length
    const ord = kept[index] ?? null
    if (ord !== null) {
      ords.push(ord)
      continue
    }
    const next = nextKept[index] ?? known.length
    const between = spread({ after: ords.at(-1) ?? 0, before: kept[next] ?? null, count: next - index })
    if (between === null) return known.map((_, position) => (position + 1) * gap)
    // The numbers are added in a loop, since there can be more numbers than one call takes arguments.
    for (const free of between) ords.push(free)
  }
  return ords
}

/**
 * Returns for each index of a list the next index whose row keeps its number. Where no such index follows, the value is
 * the length of the list.
 */
function nextKeptAfter(kept: readonly (number | null)[]): number[] {
  const next = new Array<number>(kept.length)
  let found = kept.length
  for (let index = kept.length - 1; index >= 0; index -= 1) {
    if (kept[index] !== null) found = index
    next[index] = found
  }
  return next
}

function spread(room: { after: number; before: number | null; count: number }): number[] | null {
  const { after, before, count } = room
  const step = before === null ? gap : Math.floor((before - after) / (count + 1))
  return step < 1 ? null : Array.from({ length: count }, (_, index) => after + step * (index + 1))
}

// The number of the row that each textblock has already, null for a new textblock. A textblock has the row with its own
// block id. Otherwise it takes over a row that was made from the same text and whose block is gone.
function knownOrds(
  textblocks: readonly { blockId: string; hash: string }[],
  indexed: readonly IndexedBlock[],
): (number | null)[] {
  const rows = indexed.filter(({ ord }) => ord !== 0)
  const byId = new Map(rows.map(({ block_id, ord }) => [block_id, ord]))
  const ids = new Set<string | null>(textblocks.map(({ blockId }) => blockId))
  const free = Map.groupBy(rows.filter(({ block_id }) => !ids.has(block_id)).reverse(), ({ hash }) => hash)
  return textblocks.map(({ blockId, hash }) => byId.get(blockId) ?? free.get(hash)?.pop()?.ord ?? null)
}

type Entry = { ord: number; type: string; blockTypes: readonly string[]; text: string; hash: string }

function hashOf({ blockTypes, text }: Pick<Entry, 'blockTypes' | 'text'>, context: string): string {
  return hash('sha256', `${context}${JSON.stringify([blockTypes, text])}`, 'base64url').slice(0, 16)
}

type RowContext = { language: string; scopes: readonly string[] }

function writtenRow({ text, blockTypes, ...members }: Entry, { language, scopes }: RowContext) {
  const kind = { isTitle: members.type === 'title', isHeading: members.type === 'heading' }
  const chosenBy = [...scopes, ...blockTypes.map(blockTypeLexeme)]
  const { words, ...vector } = blockVector({ text, ...kind, language, scopes: chosenBy })
  return { row: { ...members, body: text, ...vector } satisfies BlockRow, words }
}
