import { documentToLines, linesToDocument } from '../body/canonical.ts'
import { initialDocument } from '../body/initial-document.ts'
import { bodyText } from '../body/queries.ts'
import { type FirstBody, storeDocuments } from '../body/store-documents.ts'
import type { Transaction } from '../database/database.ts'
import { claimDocumentIds, type DocumentRow } from '../documents/queries.ts'
import { maximumTranslationTitle } from '../documents/schema.ts'
import type { Jobs } from '../jobs/queues.ts'
import type { QuotaLimits } from '../quotas/quotas.ts'
import { newId } from '../schema/ids.ts'
import { copyStructure, type StructureCopy } from './copy-structure.ts'
import type { CreateMode } from './schema.ts'
import { startUnits } from './start-units.ts'

/** What every write that makes documents works with. */
export type CreateContext = { tx: Transaction; jobs: Jobs; config: QuotaLimits }

/** The source, held by `holdSource` and a member of its set, and the canonical locales that the set does not have yet. */
export type NewTranslations = {
  source: DocumentRow & { document_set_id: string }
  locales: readonly string[]
  mode: CreateMode
  userId: string
}

/**
 * Creates the translations of a source beside it, in the order of the locales, with their units (decisions 2.4). An
 * attachment that the source shows is not asked for again: a copy may show a dead image as the source does. Refuses
 * with 409 `quota_exceeded`. To be called once a transaction: it enqueues jobs.
 */
export async function createTranslations(
  context: CreateContext,
  input: NewTranslations,
): Promise<readonly DocumentRow[]> {
  const { tx } = context
  const { source, locales, mode } = input
  const workspaceId = source.workspace_id
  const sourceBody = mode === 'blank' ? null : linesToDocument((await bodyText(tx, source)).split('\n'))
  const copies = locales.map((): StructureCopy => {
    return sourceBody === null
      ? { content: initialDocument('document'), blockIds: new Map() }
      : copyStructure(sourceBody)
  })
  const documents = copies.map(({ content }, index): FirstBody => {
    const text = documentToLines(content.result).join('\n')
    return { document: newTranslation(input, locales[index] ?? ''), content: { ...content, text } }
  })
  await claimDocumentIds(tx, { workspaceId, ids: documents.map(({ document }) => document.id) })
  const rows = await storeDocuments(context, { workspaceId, documents })
  const targets = rows.map((document, index) => ({ document, blockIds: copies[index]?.blockIds ?? new Map() }))
  await startUnits(tx, { source, targets })
  return rows
}

function newTranslation({ source, mode, userId }: NewTranslations, locale: string): FirstBody['document'] {
  return {
    id: newId('doc'),
    knowledge_base_id: source.knowledge_base_id,
    folder_id: source.folder_id,
    title: [...source.title].slice(0, maximumTranslationTitle).join('').trimEnd(),
    document_type: source.document_type,
    heading_numbered: source.heading_numbered,
    background_color: source.background_color,
    collapsed_block_ids: [],
    document_set_id: source.document_set_id,
    locale,
    variant_role: 'translation',
    workflow_status: 'draft',
    translated_from_document_id: source.id,
    translated_from_version: mode === 'blank' ? null : source.version,
    created_by: userId,
  }
}
