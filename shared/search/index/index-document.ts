import { hash } from 'node:crypto'
import { StoredBody } from '../../body/stored-body.ts'
import type { Queryable, Transaction } from '../../database/database.ts'
import { type Derived, type DocumentSource, loadSources } from '../../jobs/projections/queries.ts'
import type { DocumentJob } from '../../jobs/queues.ts'
import { detectLanguage } from '../text/detect-language.ts'
import { languageOf } from '../text/stems.ts'
import { tokeniserEpoch } from '../text/tokenise.ts'
import {
  type BlockRow,
  deleteRows,
  type IndexedBlock,
  indexedDocuments,
  insertRows,
  writeIndexStates,
} from './index-queries.ts'
import { outlineOf, type SearchOutline, type Textblock, textblocksOf } from './outline.ts'
import { placeRows } from './place-rows.ts'
import { scopeLexemes } from './scopes.ts'
import { blockVector } from './vector.ts'

/** A document as the index sees it, with the rows that are there already. */
export type IndexSource = DocumentSource & {
  body: string
  projected_seq: number | null
  blocks: readonly IndexedBlock[]
}

/** What has to change in the index. */
export type IndexChange = {
  language: string
  outline: SearchOutline
  remove: number[]
  write: BlockRow[]
}

/** Reads what the indexes of documents are made from, by id; documents that are gone are left out. */
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
      // No row has an empty hash, so that each is written again.
      const known = rebuilt.has(id) ? blocks.map((block) => ({ ...block, hash: '' })) : blocks
      return [id, { ...source, projected_seq: body_seq, blocks: known }]
    }),
  )
}

/**
 * Works out which rows the index needs and which of those it has: only blocks whose text, type, language or scope
 * changed are tokenised and written again.
 */
export function computeIndex(job: DocumentJob, source: IndexSource): IndexChange {
  const { document } = new StoredBody({ version: source.version, text: source.body })
  const textblocks = textblocksOf(document)
  const texts = [...textblocks.map(({ text }) => text), source.title]
  const language = languageOf(source.locale) ?? detectLanguage(texts.join('\n'))
  const scopes = scopeLexemes({ workspaceId: job.workspace_id, ...source })
  const wanted = [titleEntry(source.title), ...placed(textblocks, source.blocks)]
  const there = new Map(source.blocks.map(({ ord, hash }) => [ord, hash]))
  const context = JSON.stringify([tokeniserEpoch, language, scopes])
  const hashed = wanted.map((entry) => ({ ...entry, hash: hashOf(entry, context) }))
  const changed = hashed.filter(({ ord, hash }) => there.get(ord) !== hash)
  const places = new Set(wanted.map(({ ord }) => ord))
  return {
    language,
    outline: outlineOf(document),
    remove: [
      ...source.blocks.map(({ ord }) => ord).filter((ord) => !places.has(ord)),
      ...changed.map(({ ord }) => ord).filter((ord) => there.has(ord)),
    ],
    write: changed.map((entry) => blockRow(entry, { language, scopes })),
  }
}

/** Writes computed changes of the index; the caller holds the locks. */
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
  }))
  await writeIndexStates(tx, states)
  await deleteRows(
    tx,
    derived.flatMap(({ job, result }) => result.remove.map((ord) => ({ job, ord }))),
  )
  await insertRows(
    tx,
    derived.flatMap(({ job, result }) => result.write.map((block) => ({ job, ...block }))),
  )
}

type Entry = { ord: number; blockId: string | null; topBlockId: string | null; type: string; text: string }

function titleEntry(title: string): Entry {
  return { ord: 0, blockId: null, topBlockId: null, type: 'title', text: title }
}

function placed(textblocks: readonly Textblock[], indexed: readonly IndexedBlock[]): Entry[] {
  const known = new Map(indexed.map(({ block_id, ord }) => [block_id, ord]))
  const places = placeRows(textblocks.map(({ blockId }) => known.get(blockId) ?? null))
  return textblocks.map((block, index) => ({ ...block, ord: places[index] ?? 0 }))
}

function hashOf({ blockId, topBlockId, type, text }: Entry, context: string): string {
  return hash('sha256', `${context}${JSON.stringify([blockId, topBlockId, type, text])}`, 'base64url').slice(0, 16)
}

function blockRow(entry: Entry & { hash: string }, context: { language: string; scopes: readonly string[] }): BlockRow {
  const { text, ...members } = entry
  const kind = { isTitle: entry.type === 'title', isHeading: entry.type === 'heading' }
  return { ...members, body: text, ...blockVector({ text, ...kind, ...context }) }
}
