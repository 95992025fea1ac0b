import type { Queryable } from '../database/database.ts'
import { Refusal } from '../errors/errors.ts'
import type { EvidenceInput } from './inputs.ts'
import { documentVersions, presentBlocks } from './source-queries.ts'

/** A place in a document that a concept or candidate refers to; `source_version` null when none was recorded. */
export type SourceReference = { document_id: string; block_id: string | null; source_version: string | null }

/** What there is now of documents and blocks that are referred to. */
export type CurrentSources = {
  /** The current version of a document; null when it is gone. */
  version: (documentId: string) => string | null
  /** Whether the block of a reference is still in its document. */
  hasBlock: (reference: SourceReference) => boolean
}

/**
 * Looks up all references at once. A body is searched for a block only where it is another one than that of the
 * recorded version, since a block was there when the reference was recorded.
 */
export async function currentSources(
  db: Queryable,
  input: { workspaceId: string; references: readonly SourceReference[] },
): Promise<CurrentSources> {
  const { workspaceId, references } = input
  const documentIds = [...new Set(references.map(({ document_id }) => document_id))]
  const rows = documentIds.length === 0 ? [] : await documentVersions(db, { workspaceId, documentIds })
  const versions = new Map(rows.map(({ id, version }) => [id, version]))
  const sought = Map.groupBy(
    references.filter((reference) => versions.has(reference.document_id) && isToBeSought(reference, versions)),
    ({ document_id }) => document_id,
  )
  const blocks = [...sought].map(([document_id, found]) => ({
    document_id,
    block_ids: [...new Set(found.map(({ block_id }) => String(block_id)))],
  }))
  const present = blocks.length === 0 ? [] : await presentBlocks(db, { workspaceId, blocks })
  const found = new Map(present.map(({ document_id, block_ids }) => [document_id, new Set(block_ids)]))
  return {
    version: (documentId) => versions.get(documentId) ?? null,
    hasBlock: (reference) =>
      !isToBeSought(reference, versions) ||
      (found.get(reference.document_id)?.has(String(reference.block_id)) ?? false),
  }
}

/** Evidence as it will be recorded. */
export type ResolvedEvidence = {
  document_id: string
  block_id: string | null
  version: string
  excerpt: string | null
  /** The version that the caller named. */
  provided: string | undefined
}

/** Evidence of a request body, with the members that name its document and block, for `details.field`. */
export type NamedEvidence = EvidenceInput & { fields: { document: string; block: string } }

/** Evidence with the names of its members behind a prefix such as `evidence/`. */
export function namedEvidence(evidence: EvidenceInput, prefix: string): NamedEvidence {
  return { ...evidence, fields: { document: `${prefix}document_id`, block: `${prefix}block_id` } }
}

/**
 * Finds the documents and blocks of evidence in the workspace: 404 `document_not_found` or `block_not_found` with the
 * member that named it. The version is the current one.
 */
export async function resolveEvidence(
  db: Queryable,
  input: { workspaceId: string; evidence: readonly NamedEvidence[] },
): Promise<ResolvedEvidence[]> {
  const references = input.evidence.map(({ document_id, block_id }) => ({
    document_id,
    block_id: block_id ?? null,
    source_version: null,
  }))
  const sources = await currentSources(db, { workspaceId: input.workspaceId, references })
  return input.evidence.map(({ document_id, block_id = null, excerpt = null, source_version, fields }) => {
    const version = sources.version(document_id)
    if (version === null) throw missing('document_not_found', document_id, fields.document)
    if (block_id !== null && !sources.hasBlock({ document_id, block_id, source_version: null }))
      throw missing('block_not_found', block_id, fields.block)
    return { document_id, block_id, version, excerpt, provided: source_version }
  })
}

/** Refuses evidence whose source has moved since the version that the caller named: 409 `evidence_changed`. */
export function requireCurrentEvidence(evidence: readonly ResolvedEvidence[]): void {
  for (const { provided, version } of evidence) {
    if (provided !== undefined && provided !== version)
      throw new Refusal('evidence_changed', { details: { provided, current_version: version } })
  }
}

/** Refuses a document that is not in the workspace: 404 with the member that named it. */
export async function requireDocumentOfWorkspace(
  db: Queryable,
  input: { workspaceId: string; documentId: string; field: string },
): Promise<void> {
  const found = await documentVersions(db, { workspaceId: input.workspaceId, documentIds: [input.documentId] })
  if (found.length === 0) throw missing('document_not_found', input.documentId, input.field)
}

function isToBeSought(reference: SourceReference, versions: ReadonlyMap<string, string>): boolean {
  return reference.block_id !== null && versions.get(reference.document_id) !== reference.source_version
}

function missing(code: 'document_not_found' | 'block_not_found', id: string, field: string): Refusal {
  return new Refusal(code, { details: { id, field } })
}
