import Type, { type Static } from 'typebox'
import type { BlockNode, BodyNode } from '../body/document.ts'
import { headingTitle } from '../body/outline.ts'
import { plainText } from '../body/text.ts'
import { computation } from '../computations/computation.ts'
import { compute } from '../computations/compute.ts'
import { type Queryable, sql } from '../database/database.ts'
import { row } from '../database/row.ts'
import { inWorkspaces } from '../database/workspaces.ts'
import { Nullable } from '../schema/identifiers.ts'
import { oneLine, truncate } from './plain.ts'

const Passage = Type.Object({ block_id: Type.String(), text: Type.String() })

/** What a deterministic summary needs to know of a body or a section; each text is one line. */
export const Digest = Type.Object({
  block_count: Type.Number(),
  /** The first headings that have a title. */
  headings: Type.Array(Passage),
  /** The first paragraph with text or, without one, the first other block with text. */
  opening: Nullable(Passage),
  /** Whether a limit left out a heading or cut the opening. */
  truncated: Type.Boolean(),
})
export type Digest = Static<typeof Digest>

/** A document with its current version and the digest of the body of this version. */
export type DigestedDocument = { workspace_id: string; id: string; title: string; version: string; digest: Digest }

/** A selection of documents: some by id, or all documents of a knowledge base. */
export type DocumentSelection =
  | { workspaceIds: readonly string[]; ids: readonly string[] }
  | { workspaceIds: readonly string[]; knowledgeBaseId: number }

// Limits of a digest: the number of headings, and code points of a heading and of the opening.
const headingLimit = 20
const headingLength = 120
const openingLength = 500

// Limits of the bodies that are read at once to make digests: code points and documents.
const batchCharacters = 2_000_000
const batchDocuments = 500

/**
 * Returns the digest of stored lines. Of the blocks, only headings and the paragraphs up to the first paragraph with
 * text are parsed. Without such a paragraph, other blocks are parsed up to the first block with text.
 */
export function digestOf(lines: readonly string[]): Digest {
  const headings = blocksOf(lines, 'heading')
    .map((block) => ({ block_id: block.attrs.id, text: headingTitle(block) }))
    .filter(({ text }) => text !== '')
  const opening = openingOf(lines)
  return {
    block_count: lines.length,
    headings: headings
      .slice(0, headingLimit)
      .map(({ block_id, text }) => ({ block_id, text: truncate(text, headingLength) })),
    opening: opening && { ...opening, text: truncate(opening.text, openingLength) },
    truncated: headings.length > headingLimit || Array.from(opening?.text ?? '').length > openingLength,
  }
}

// Canonical JSON sorts the members of a block, so the type stands at the end of the line.
function isOfType(line: string, type: string): boolean {
  return line.endsWith(`"type":"${type}"}`)
}

function blocksOf(lines: readonly string[], type: string): BlockNode[] {
  return lines.filter((line) => isOfType(line, type)).map((line) => JSON.parse(line) as BlockNode)
}

function openingOf(lines: readonly string[]): Static<typeof Passage> | null {
  return (
    firstWithText(lines.filter((line) => isOfType(line, 'paragraph'))) ??
    firstWithText(lines.filter((line) => !isOfType(line, 'heading') && !isOfType(line, 'htmlBlock')))
  )
}

function firstWithText(lines: readonly string[]): Static<typeof Passage> | null {
  for (const line of lines) {
    const block = JSON.parse(line) as BlockNode
    // A block with pictures alone is no opening, although its alternative texts are text.
    const text = hasText(block) ? oneLine(plainText(block)) : ''
    if (text !== '') return { block_id: block.attrs.id, text }
  }
  return null
}

function hasText(node: BodyNode): boolean {
  return node.text?.trim() ? true : (node.content ?? []).some(hasText)
}

/**
 * A function that makes the digests of stored bodies. In a write, which holds locks, it is `Ahead.result` with
 * `digesting` (shared/computations/ahead.ts). Elsewhere it is `digestInThread`.
 */
export type MakeDigests = (bodies: { texts: readonly string[] }) => Promise<Digest[]>

/** Makes the digests of stored bodies. A thread calls this function by its name. @public */
export function digestBodies({ texts }: { texts: readonly string[] }): Digest[] {
  return texts.map((text) => digestOf(text.split('\n')))
}

/**
 * Makes digests without blocking the event loop. Rejects with ComputationLimitError when the bodies take too much
 * processor time or memory, and with 503 when too many computations wait.
 */
export const digestInThread: MakeDigests = (bodies) => compute(digesting, bodies)

/** Makes the digests of stored bodies. A body takes 0.02 µs a character, most of it for its headings. */
export const digesting = computation({
  module: import.meta.url,
  run: digestBodies,
  isSmall: (bodies) => lengthOf(bodies) <= 256 * 1024,
  cpuMs: (bodies) => 2000 + lengthOf(bodies) * 0.005,
})

function lengthOf({ texts }: { texts: readonly string[] }): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}

/**
 * Returns documents with their digests. Missing digests are made from the bodies, some megabytes at a time, and stored
 * for the next reader. A document that was rewritten meanwhile comes in its newer version.
 */
export async function digestedDocuments(
  db: Queryable,
  selection: DocumentSelection,
  makeDigests: MakeDigests,
): Promise<DigestedDocument[]> {
  const heads = await documentHeads(db, selection)
  const made = new Map<string, DigestedDocument>()
  // Digests are stored in the order of the document ids, so that two transactions that store the same digests cannot
  // deadlock.
  const missing = heads.filter(({ digest }) => digest === null).sort((a, b) => (a.id < b.id ? -1 : 1))
  for (const batch of batchesOf(missing)) {
    const bodies = await currentBodies(db, { workspaceIds: selection.workspaceIds, ids: batch.map(({ id }) => id) })
    const digests = await makeDigests({ texts: bodies.map(({ body }) => body) })
    const digested = bodies.flatMap(({ body: _, ...document }, index) => {
      const digest = digests[index]
      return digest === undefined ? [] : [{ ...document, digest }]
    })
    await keepDigests(db, digested)
    for (const document of digested) made.set(document.id, document)
  }
  return heads.flatMap(({ character_count: _size, digest, ...head }) => {
    const document = digest === null ? made.get(head.id) : { ...head, digest }
    return document === undefined ? [] : [document]
  })
}

function batchesOf(heads: readonly DocumentHead[]): DocumentHead[][] {
  const batches: DocumentHead[][] = []
  let room = 0
  for (const head of heads) {
    const batch = batches.at(-1)
    if (batch === undefined || room < head.character_count || batch.length === batchDocuments) {
      batches.push([head])
      room = batchCharacters - head.character_count
    } else {
      batch.push(head)
      room -= head.character_count
    }
  }
  return batches
}

const HeadShape = Type.Object({
  workspace_id: Type.String(),
  id: Type.String(),
  title: Type.String(),
  version: Type.String(),
  character_count: Type.Number(),
  digest: Nullable(Digest),
})
const HeadRow = row(HeadShape)

/** A document with its digest, which is null unless it was made from the current version. */
type DocumentHead = Static<typeof HeadShape>

// Returns the selected documents that exist.
function documentHeads(db: Queryable, selection: DocumentSelection): Promise<readonly DocumentHead[]> {
  const chosen =
    'ids' in selection
      ? sql.fragment`d.id = ANY(${sql.array([...selection.ids], 'text')})`
      : sql.fragment`d.knowledge_base_id = ${selection.knowledgeBaseId}`
  return db.any(sql.type(HeadRow)`
    SELECT d.workspace_id, d.id, d.title, d.version, d.character_count, g.digest
    FROM documents d
    LEFT JOIN summary_digests g
      ON g.workspace_id = d.workspace_id AND g.document_id = d.id AND g.version = d.version
    WHERE ${inWorkspaces(sql.fragment`d.workspace_id`, selection.workspaceIds)} AND ${chosen}`)
}

const BodyRow = row(
  Type.Object({
    workspace_id: Type.String(),
    id: Type.String(),
    title: Type.String(),
    version: Type.String(),
    body: Type.String(),
  }),
)

// Returns the current bodies of documents; missing documents are left out.
function currentBodies(db: Queryable, input: { workspaceIds: readonly string[]; ids: readonly string[] }) {
  return db.any(sql.type(BodyRow)`
    SELECT d.workspace_id, d.id, d.title, d.version, b.body
    FROM documents d
    JOIN document_bodies b ON b.workspace_id = d.workspace_id AND b.document_id = d.id AND b.body_seq = d.body_seq
    WHERE ${inWorkspaces(sql.fragment`d.workspace_id`, input.workspaceIds)}
      AND d.id = ANY(${sql.array([...input.ids], 'text')})`)
}

// Stores digests in the order of the document ids. A document that is gone or locked by a writer is left out, so a
// reader never waits for a writer.
async function keepDigests(
  db: Queryable,
  digests: readonly { workspace_id: string; id: string; version: string; digest: Digest }[],
): Promise<void> {
  const sorted = [...digests].sort((a, b) => (a.id < b.id ? -1 : 1))
  const texts = (column: (digest: (typeof sorted)[number]) => string) => sql.array(sorted.map(column), 'text')
  await db.query(sql.unsafe`
    WITH locked AS (
      SELECT d.workspace_id, d.id FROM documents d
      JOIN unnest(${texts(({ workspace_id }) => workspace_id)}, ${texts(({ id }) => id)}) AS k (workspace_id, id)
        USING (workspace_id, id)
      FOR KEY SHARE OF d SKIP LOCKED
    )
    INSERT INTO summary_digests (workspace_id, document_id, version, digest)
    SELECT workspace_id, id, k.version, k.digest::jsonb FROM locked
    JOIN unnest(${texts(({ workspace_id }) => workspace_id)}, ${texts(({ id }) => id)},
      ${texts(({ version }) => version)}, ${texts(({ digest }) => JSON.stringify(digest))})
      AS k (workspace_id, id, version, digest) USING (workspace_id, id)
    ORDER BY id
    ON CONFLICT (workspace_id, document_id) DO UPDATE SET version = excluded.version, digest = excluded.digest`)
}
