import { textComputation } from '../body/stored-body.ts'
import type { Compute } from '../computations/compute.ts'
import type { Queryable } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import { loadSource } from '../jobs/projections/queries.ts'
import { type Container, containerName, documentIdsBelow, firstChildren, firstTitles } from './container-queries.ts'
import {
  childLimit,
  type DerivedSummary,
  type SummarisedChild,
  summariseChildren,
  summariseDigest,
} from './deterministic.ts'
import { digestedDocuments, digesting, type MakeDigests } from './digests.ts'
import { documentVersion } from './queries.ts'
import { sourceLimit } from './schema.ts'
import { sectionOf } from './section.ts'
import type { SummaryTarget } from './target.ts'
import { folderEntries, knowledgeBaseEntries, versionOf } from './versions.ts'

/** The current source of a target's summary. */
export type SummarySource = TextSource | ContainerSource

/** The source of a document or section: its stored blocks, one a line. */
export type TextSource = { version: string; title: string; text: string }

/** The source of a folder or knowledge base. */
export type ContainerSource = { version: string; title: string; documentCount: number }

/** The reason why a target has no source. */
export type NoSource = 'gone' | 'not_a_heading'

/** The most children that the line of a folder names in the summary of its parent. */
export const titleLimit = 12

/**
 * Returns the current source of a target, without a lock. `computeText` finds a section in a large body: it is
 * `compute`, or the member `result` of `Ahead` in a transaction that holds locks.
 */
export async function findSource(
  db: Queryable,
  { target, computeText }: { target: SummaryTarget; computeText: Compute },
): Promise<SummarySource | NoSource> {
  if (target.type === 'folder' || target.type === 'knowledge_base') return findContainer(db, target)
  return findText(db, { target, computeText })
}

/** Returns the version of the current source. For a document, its text is not read. */
export async function currentVersion(
  db: Queryable,
  { target, computeText }: { target: SummaryTarget; computeText: Compute },
): Promise<string | NoSource> {
  if (target.type === 'document') return (await documentVersion(db, target)) ?? 'gone'
  const source = await findSource(db, { target, computeText })
  return typeof source === 'string' ? source : source.version
}

/** Refuses with 404 when the target is gone. */
export function requireThere<T extends SummarySource | string>(
  found: T | NoSource,
  target: SummaryTarget,
): T | 'not_a_heading' {
  if (found !== 'gone') return found as T | 'not_a_heading'
  if (target.type === 'section')
    throw new Refusal('block_not_found', { details: { id: target.blockId, field: 'block_id' } })
  throw new Refusal(`${target.type}_not_found`, { details: { id: target.id } })
}

/**
 * Refuses with 422 `not_a_heading_block` when the block is no top-level heading. Call it after every check for a
 * conflict.
 */
export function requireHeading<T>(found: T | 'not_a_heading'): T {
  if (found === 'not_a_heading') throw new Refusal('not_a_heading_block')
  return found
}

/** Makes the deterministic summary of a source. `makeDigests` is for the documents of a folder or knowledge base. */
export async function derive(
  db: Queryable,
  input: { target: SummaryTarget; source: SummarySource; computeText: Compute; makeDigests: MakeDigests },
): Promise<DerivedSummary> {
  const { target, source, computeText, makeDigests } = input
  if (!('text' in source)) return summariseContainer(db, { container: target as Container, source, makeDigests })
  const [digest = emptyDigest] = await computeText(digesting, { texts: [source.text] })
  return summariseDigest({ documentId: String(target.id), title: source.title, digest })
}

/** Returns the ids of the documents that count as sources of a summary by a person, at most `sourceLimit`. */
export async function documentIdsOf(db: Queryable, target: SummaryTarget): Promise<readonly string[]> {
  if (target.type === 'document' || target.type === 'section') return [target.id]
  return documentIdsBelow(db, { container: target, limit: sourceLimit })
}

/**
 * The text of a section with its title and version. Null when the block is no top-level heading, undefined when there
 * is no such block. A thread calls this function by its name. @public
 */
export function findSection({ text, blockId }: { text: string; blockId: string }): TextSource | null | undefined {
  const section = sectionOf(text.split('\n'), blockId)
  return section && { version: section.version, title: section.title, text: section.lines.join('\n') }
}

const finding = textComputation({ module: import.meta.url, run: findSection, smallLength: 256 * 1024 })

async function findText(
  db: Queryable,
  input: { target: Extract<SummaryTarget, { type: 'document' | 'section' }>; computeText: Compute },
): Promise<TextSource | NoSource> {
  const { target, computeText } = input
  const stored = await loadSource(db, { workspace_id: target.workspaceId, document_id: target.id })
  if (stored === null) return 'gone'
  const { version, title, body: text } = stored
  if (target.type === 'document') return { version, title, text }
  const section = await computeText(finding, { text, blockId: target.blockId })
  if (section === undefined) return 'gone'
  // An untitled section uses the title of its document, so that no summary is empty.
  return section === null ? 'not_a_heading' : { ...section, title: section.title || title }
}

/** Returns the current source of a folder or knowledge base. */
export async function findContainer(db: Queryable, container: Container): Promise<ContainerSource | 'gone'> {
  const title = await containerName(db, container)
  if (title === null) return 'gone'
  const entries = await (container.type === 'folder' ? folderEntries : knowledgeBaseEntries)(db, container)
  return { version: versionOf(entries), title, documentCount: entries.documents }
}

/** Makes the deterministic summary of a folder or knowledge base. */
export async function summariseContainer(
  db: Queryable,
  { container, source, makeDigests }: { container: Container; source: ContainerSource; makeDigests: MakeDigests },
): Promise<DerivedSummary> {
  const { workspaceId } = container
  const rows = await firstChildren(db, { container, limit: childLimit + 1 })
  const shown = rows.slice(0, childLimit)
  const folderIds = shown.filter(({ rank }) => rank === 0).map(({ folder_id }) => folder_id)
  const titles = new Map(
    (await firstTitles(db, { workspaceId, folderIds, limit: titleLimit })).map((found) => [
      found.folder_id,
      found.titles,
    ]),
  )
  const ids = shown.filter(({ rank }) => rank === 1).map(({ document_id }) => document_id)
  const documents = await digestedDocuments(db, { workspaceIds: [workspaceId], ids }, makeDigests)
  const digests = new Map(documents.map((document) => [document.id, document.digest]))
  const children = rows.flatMap(({ rank, label, folder_id, document_id }): SummarisedChild[] => {
    if (rank === 0) return [{ type: 'folder', label, titles: titles.get(folder_id) ?? [] }]
    const digest = digests.get(document_id) ?? emptyDigest
    return [{ type: 'document', id: document_id, label, digest }]
  })
  return summariseChildren({ name: source.title, children, documentCount: source.documentCount })
}

/**
 * The digest that stands for a document without a digest. Such a document was deleted a moment ago, or it is the child
 * after `childLimit` others, which is only counted.
 */
export const emptyDigest = { block_count: 0, headings: [], opening: null, truncated: false }
